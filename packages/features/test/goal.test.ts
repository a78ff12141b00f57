/** Goals in real sessions, and what follows a check as a table. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { call, text } from "@tau/ai/testing";
import { type ExtensionUi, noUi } from "@tau/extensions";
import { expect, onTestFinished, test } from "vitest";
import { readVerdict } from "../src/goal/check-goal.ts";
import { decideNextRun, type Goal, parseGoalCommand, readGoal } from "../src/goal/goal-state.ts";
import { goal } from "../src/index.ts";
import { createTestSession, SurfaceUi, type TestSessionParams } from "./kit.ts";

type Turns = Parameters<typeof createTestSession>[0];

class GoalSurface extends SurfaceUi {
  readonly told: string[] = [];
  readonly statuses: (string | undefined)[] = [];
  override readonly ui: ExtensionUi = {
    ...noUi,
    notify: (message) => void this.told.push(message),
    setStatus: (key, status) => void (key === "goal" && this.statuses.push(status)),
  };
}

async function open(turns: Turns, params: TestSessionParams = {}) {
  const opened = await createTestSession(turns, { features: [goal()], ...params });
  onTestFinished(() => opened.dispose());
  const surface = new GoalSurface();
  await opened.session.attachSurface(surface);
  const tells = async (message: string) =>
    await expect.poll(() => surface.told.at(-1), { timeout: 20_000 }).toEqual(expect.stringContaining(message));
  const messages = () => opened.session.messages.filter(({ role }) => (role as string) === "custom");
  return { ...opened, surface, tells, messages };
}

const verdict = (reached: boolean, missing = "") => [text(JSON.stringify({ reached, missing }))];

test("the model works until the check says that the goal is reached, within one run", async () => {
  const { session, events, surface, tells, messages } = await open([
    [text("I did half.")],
    verdict(false, "The other half."),
    [text("All done.")],
    verdict(true),
  ]);
  await session.prompt("/goal Do all of it");
  await tells("The goal is reached after 2 runs.");
  await expect.poll(() => events.at(-1)?.type).toBe("agent_end");
  expect(events.filter(({ type }) => type === "agent_start")).toHaveLength(1);
  expect(messages()).toHaveLength(2);
  expect(JSON.stringify(messages()[1])).toContain("The other half.");
  expect(surface.statuses).toContain("goal 1/10 · $0.00 of $5.00");
  expect(surface.statuses.at(-1)).toBeUndefined();
  // Afterwards there is no goal any more.
  await session.prompt("/goal");
  expect(surface.told.at(-1)).toContain("There is no goal");
});

test("a command checks, and its output goes to the model", async () => {
  const { session, cwd, tells, messages } = await open([
    [text("Look.")],
    [call("write", { path: "done.txt", content: "yes" })],
    [text("Now.")],
  ]);
  await session.prompt('/goal --check "test -f done.txt || { echo no file; exit 3; }" Write done.txt');
  await tells("The goal is reached after 2 runs.");
  expect(await readFile(join(cwd, "done.txt"), "utf8")).toBe("yes");
  expect(JSON.stringify(messages()[1])).toContain("ended with 3:\\n\\nno file");
});

test("a command that the policy denies is not run, and the goal ends with the reason", async () => {
  const { session, tells } = await open([[text("Done.")]]);
  await session.prompt('/goal --check "rm -rf /" Break it');
  await tells("could not be checked");
});

test("after the last run the goal ends", async () => {
  const { session, tells } = await open([[text("a")], verdict(false), [text("b")], verdict(false)]);
  await session.prompt("/goal --runs 2 Never");
  await tells("The goal is not reached after 2 runs");
});

test("an abort ends the goal, and so does /goal off", async () => {
  const { session, tells, surface } = await open([[text("a")], [text("b")]]);
  const stop = session.subscribe((event) => {
    if (event.type === "message_end" && event.message.role === "assistant") void session.abort();
  });
  await session.prompt("/goal Do it");
  await tells("because you stopped the run");
  stop();
  await session.prompt("/goal off");
  expect(surface.told.at(-1)).toBe("There is no goal.");
});

test("the goal is kept with the session", async () => {
  const { session, tells, surface } = await open([
    [text("a")],
    { failure: { kind: "aborted", message: "No." } },
    [text("b")],
    verdict(true),
  ]);
  await session.prompt("/goal --runs 3 Do it");
  await tells("could not be checked");
  await session.prompt("/goal --runs 3 Do it again");
  await tells("The goal is reached after 1 run.");
  const states = (await session.sessionManager.getEntries()).filter(
    (entry) => entry.type === "custom" && entry.customType === "goal",
  );
  expect(states.map((entry) => "data" in entry && Object.keys(entry.data as object))).toEqual([
    ["goal"],
    [],
    ["goal"],
    [],
  ]);
  expect(surface.statuses).toContain("goal 0/3 · $0.00 of $5.00");
});

test("a goal of a log that somebody else wrote stays within the limits of /goal", () => {
  const goal = { text: "Do it", maxRuns: 10, maxCost: 5, runs: 0, startCost: 1 };
  expect(readGoal({ goal }, 1)).toEqual(goal);
  const others = [{ maxRuns: 1e9 }, { maxCost: Infinity }, { runs: -1e9 }, { text: "x".repeat(1e5) }];
  for (const other of others) expect(readGoal({ goal: { ...goal, ...other } }, 1)).toBeUndefined();
  expect(readGoal({ goal: { ...goal, startCost: 2 } }, 1)).toEqual(goal);
});

const base: Goal = { text: "Do it", maxRuns: 3, maxCost: 1, runs: 0, startCost: 2 };

test.each([
  [base, { kind: "reached" }, 9, { kind: "end", message: expect.stringContaining("after 1 run.") }],
  [base, { kind: "open", missing: "x" }, 2.5, { kind: "continue", goal: { ...base, runs: 1 } }],
  [base, { kind: "open", missing: "x" }, 3, { kind: "end", message: expect.stringContaining("budget of $1.00") }],
  [
    { ...base, runs: 2 },
    { kind: "open", missing: "x" },
    2,
    { kind: "end", message: expect.stringContaining("3 runs") },
  ],
  [{ ...base, runs: 2 }, { kind: "reached" }, 2, { kind: "end", message: expect.stringContaining("reached after 3") }],
  [base, { kind: "failed", reason: "No." }, 2, { kind: "end", message: expect.stringContaining("No.") }],
] as const)("after %j the verdict %j decides", (goalBefore, given, cost, expected) => {
  expect(decideNextRun(goalBefore, given, cost)).toMatchObject(expected);
});

test.each([
  ["", { kind: "show" }],
  [" off ", { kind: "off" }],
  ["off the shelf", { kind: "set", goal: { text: "off the shelf", maxRuns: 10, maxCost: 5 } }],
  ['--check "npm test" Make it green', { kind: "set", goal: { text: "Make it green", check: "npm test" } }],
  ['--check="echo \\"a\\"" x', { kind: "set", goal: { check: 'echo "a"', text: "x" } }],
  [
    "--runs 3 --budget=0.5 --check 'a b' x --runs 9",
    { kind: "set", goal: { text: "x --runs 9", maxRuns: 3, maxCost: 0.5, check: "a b" } },
  ],
  ["--runs 0 x", { kind: "invalid" }],
  ["--runs 1000 x", { kind: "invalid" }],
  ["--budget lots x", { kind: "invalid" }],
  ['--check " " x', { kind: "invalid" }],
  ['--check "npm test x', { kind: "invalid" }],
  ["--chek a x", { kind: "invalid" }],
  ["--check a", { kind: "invalid" }],
  ["write a poem --runs 2", { kind: "invalid", message: expect.stringContaining("/goal --runs 2 TEXT") }],
  ["write a poem --budget=1.5", { kind: "invalid" }],
])("/goal %s", (args, expected) => {
  expect(parseGoalCommand(args)).toMatchObject(expected);
});

test.each([
  ['{"reached": true}', { kind: "reached" }],
  ['Well: ```json\n{"reached": false, "missing": "tests"}\n```', { kind: "open", missing: "tests" }],
  ['{"reached": "true"}', { kind: "failed" }],
  ["Yes.", { kind: "failed" }],
])("the answer %j is a verdict only as JSON", (answer, expected) => {
  expect(readVerdict(answer)).toMatchObject(expected);
});
