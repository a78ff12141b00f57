/** Evaluations: cases, scores, the table and the JSON. */
import { createFakeClock } from "@tau/ai/testing";
import { expect, test } from "vitest";
import { evaluate, formatEvaluation } from "../src/testing/index.ts";

const cases = [
  { name: "sum", input: "1 + 1", expected: "2" },
  { name: "product", input: "2 * 3", expected: "6" },
  { input: "1 / 0" },
];
const answers = new Map([
  ["1 + 1", "2"],
  ["2 * 3", "It is 6."],
]);
const run = (input: string) => {
  const answer = answers.get(input);
  if (answer === undefined) throw new Error("The model gave no answer.");
  return answer;
};
const scorers = {
  exact: ({ output, expected }: { output: string; expected?: string | undefined }) => output === expected,
  short: async ({ output }: { output: string }) => 1 / output.length,
};

test("every case is run and scored, and one that fails has the score 0", async () => {
  const evaluation = await evaluate(cases, run, scorers, { clock: createFakeClock() });
  expect(evaluation).toEqual({
    cases: [
      { name: "sum", output: "2", scores: { exact: 1, short: 1 }, durationMs: 0 },
      { name: "product", output: "It is 6.", scores: { exact: 0, short: 0.125 }, durationMs: 0 },
      { name: "3", error: "The model gave no answer.", scores: { exact: 0, short: 0 }, durationMs: 0 },
    ],
    means: { exact: 1 / 3, short: 0.375 },
    failed: 1,
  });
  expect(JSON.parse(JSON.stringify(evaluation))).toEqual(evaluation);
});

test("the table has a row for each case, the means, and the errors", async () => {
  expect(formatEvaluation(await evaluate(cases, run, scorers, { clock: createFakeClock() }))).toMatchInlineSnapshot(`
    "case     exact  short  ms
    sum       1.00   1.00   0
    product   0.00   0.13   0
    3         0.00   0.00   0
    mean      0.33   0.38

    1 of 3 failed:
    3: The model gave no answer."
  `);
});

test("a scorer that throws or gives no score gives 0 and an error, and the others count", async () => {
  const bad = {
    ...scorers,
    broken: () => Promise.reject(new Error("no judge")),
    large: () => 7,
  };
  const { cases: results } = await evaluate(cases.slice(0, 1), run, bad);
  expect(results[0]).toMatchObject({
    scores: { exact: 1, short: 1, broken: 0, large: 0 },
    error: "The scorer broken failed: no judge",
  });
});

test("as many cases run at the same time as are asked for, and results keep their order", async () => {
  let running = 0;
  let most = 0;
  const slow = async (input: number) => {
    most = Math.max(most, ++running);
    for (let turn = 0; turn < input; turn++) await Promise.resolve();
    running--;
    return input;
  };
  const inputs = [9, 1, 5, 3].map((input) => ({ input }));
  const one = await evaluate(inputs, slow, { ran: () => true });
  expect([most, one.cases.map(({ output }) => output)]).toEqual([1, [9, 1, 5, 3]]);
  const three = await evaluate(inputs, slow, { ran: () => true }, { concurrency: 3 });
  expect([most, three.cases.map(({ output }) => output)]).toEqual([3, [9, 1, 5, 3]]);
});

test("cases that have not begun fail when it is aborted", async () => {
  const controller = new AbortController();
  const stop = (input: number) => (controller.abort(new Error("enough")), input);
  const { cases: results } = await evaluate([{ input: 1 }, { input: 2 }], stop, { ran: () => true }, controller);
  expect(results.map(({ error }) => error)).toEqual([undefined, "enough"]);
});

test("an evaluation without cases or scorers is refused", async () => {
  await expect(evaluate([], run, scorers)).rejects.toMatchObject({ code: "invalid_input" });
  await expect(evaluate(cases, run, {})).rejects.toMatchObject({ code: "invalid_input" });
});
