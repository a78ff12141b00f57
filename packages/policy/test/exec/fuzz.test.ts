/**
 * Any text gets an answer after a bounded number of steps. What steps cost in time: npm run bench -- policy-classify
 * `TAU_LONG=1` takes six times as many texts. Even more: EXEC_FUZZ=100000 npx vitest run packages/policy/test/exec/fuzz.test.ts
 */
import { expect, test } from "vitest";
import { execTiers } from "../../src/exec/classification.ts";
import { classifyCommand } from "../../src/exec/classify-command.ts";
import { listRuledNames } from "../../src/exec/rules/index.ts";
import { StepBudget } from "../../src/exec/shell/analysis.ts";
import { allowRows, corpusContext, denyRows, ordinaryCommands } from "./corpus.ts";
import { longArguments } from "./long-arguments.ts";
import { generateNoise } from "./noise.ts";
import { createRandom } from "./random.ts";

const count = Number(process.env.EXEC_FUZZ ?? (process.env["TAU_LONG"] ? 3_000 : 500));
const rows = [...denyRows, ...allowRows].map(({ cmd }) => cmd);
/** The last step that is spent may cost more than one. */
const maxOverdraw = 500;

const classify = (text: string) => {
  const budget = new StepBudget();
  return { ...classifyCommand(text, corpusContext, budget), spent: budget.spent };
};

test(
  `${count} random texts are classified without a throw, and within the budget of steps`,
  { timeout: 300_000 + count * 60 },
  () => {
    const random = createRandom(Number(process.env.EXEC_SEED ?? 1));
    const unbounded: string[] = [];
    for (let index = 0; index < count; index++) {
      const text = generateNoise(random, rows);
      const { tier, spent } = classify(text);
      expect(execTiers).toContain(tier);
      const isGivenUp = spent > StepBudget.maxSteps;
      if (spent > StepBudget.maxSteps + maxOverdraw || (isGivenUp && tier !== "critical"))
        unbounded.push(text.slice(0, 80));
    }
    expect(unbounded).toEqual([]);
  },
);

test("no command of the corpus and no ordinary one spends a quarter of the budget", () => {
  const large = [...rows, ...ordinaryCommands].filter((text) => classify(text).spent > StepBudget.maxSteps / 4);
  expect(large).toEqual([]);
});

test("random arguments of every program with rules are judged without an internal error", () => {
  const random = createRandom(Number(process.env.EXEC_SEED ?? 1));
  const options = [
    "-c",
    "-e",
    "-f",
    "-x",
    "-I",
    "--",
    "-",
    "--eval=x",
    "-exec",
    "{}",
    "\\;",
    "+",
    "/",
    "~",
    "$X",
    "'a b'",
    "x=1",
    "=",
    "run",
    "set",
  ];
  const words = [
    ...options,
    ...rows
      .join(" ")
      .split(/[\s'"`(){}<>|&;]+/)
      .filter((word) => word !== "" && !word.includes("\u202e")),
  ];
  const failed: string[] = [];
  for (const name of listRuledNames()) {
    for (let round = 0; round < 8; round++) {
      const command = [name, ...Array.from({ length: random.below(6) }, () => random.pick(words))].join(" ");
      const { findings } = classifyCommand(command, corpusContext);
      if (findings.some(({ reason }) => reason.includes("could not be analysed"))) failed.push(command);
    }
  }
  expect(failed).toEqual([]);
});

test("long arguments cost steps by their length, or are given up", () => {
  const minStepsOfCharacter = 1 / 1_024;
  const cheap = longArguments.filter((text) => {
    const { spent, tier } = classify(text);
    return tier !== "critical" && spent < text.length * minStepsOfCharacter;
  });
  expect(cheap.map((text) => text.slice(0, 40))).toEqual([]);
});

test.each([
  `python3 -c '${"q{exec ".repeat(1_400)}'`,
  `ed x <<< '%w[${'join("a",shell-command '.repeat(1_700)}'`,
  "]][".repeat(7_600),
])("code inside of code and long patterns are given up soon, as code that is not known: %.30s", (text) => {
  const { tier, class: found, reason } = classify(text);
  expect({ tier, found, reason }).toEqual({
    tier: "critical",
    found: "opaque_exec",
    reason: "The command has too many parts.",
  });
});
