/**
 * Laws that hold in every run, however its parts misbehave and in whatever order. A script says what the model, the
 * tools, the hooks, the listeners and the user do; the scheduler decides when. Scripts with few events run in every
 * possible order, scripts with many events in random orders. A failure prints the script and the order, and for random
 * orders also the seed that repeats it. With `TAU_LONG=1` all scripts of up to six steps run; otherwise all of up to three
 * steps, and a part of the longer ones, which have nearly all orders.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runEveryOrder, toOrder } from "./scheduler.ts";
import {
  type Action,
  actions,
  type AnswerPlan,
  type Behavior,
  type CallPlan,
  type HookPlan,
  hookNames,
  type ListenerPlan,
  type Script,
} from "./script.ts";
import { simulate } from "./simulate.ts";

const later: Behavior = { settles: "later" };
const laterFails: Behavior = { settles: "later", fails: true };
const never: Behavior = { settles: "never" };
const behaviors: Behavior[] = [
  later,
  laterFails,
  never,
  { settles: "now", fails: true },
  { settles: "onAbort" },
  { settles: "onAbort", fails: true },
];
const eventTypes = [
  "agent_start",
  "turn_start",
  "message_start",
  "message_update",
  "message_end",
  "tool_execution_start",
  "tool_execution_update",
  "tool_execution_end",
  "turn_end",
  "agent_end",
] as const;

const arrivesNow: AnswerPlan = { arrives: "now" };
const calls = (...plans: CallPlan[]): AnswerPlan => ({ arrives: "now", calls: plans });

/** A script without its entry point and the user's actions. */
type Scenario = Omit<Script, "api" | "actions">;

const scenarios = {
  "an answer that arrives slowly": { answers: [{ arrives: "later", stopsOnAbort: true }] },
  "an answer that ignores the abort": { answers: [{ arrives: "later" }] },
  "an answer that stops arriving": { answers: [{ arrives: "never" }] },
  "an answer that fails": { answers: [{ arrives: "later", ends: "error" }] },
  "an answer that ends in the middle of its calls": {
    answers: [{ arrives: "later", ends: "cut", calls: [{ id: "a" }, { id: "b" }] }],
  },
  "an answer that reaches its token limit in its calls": {
    answers: [{ arrives: "later", ends: "length", calls: [{ id: "a" }, { id: "a" }] }],
  },
  "a slow stream function": { answers: [{ arrives: "now", opens: later }] },
  "a stream function that fails": { answers: [{ arrives: "now", opens: laterFails }] },
  "two calls at once": { answers: [calls({ id: "a", tool: later }, { id: "b", tool: laterFails })] },
  "two calls with one id": { answers: [calls({ id: "a", tool: later }, { id: "a", tool: later })] },
  "two sequential calls": {
    execution: "sequential",
    answers: [calls({ id: "a", tool: later }, { id: "b", tool: later })],
  },
  "two sequential calls after which the run stops": {
    execution: "sequential",
    answers: [calls({ id: "a", tool: later }, { id: "b" })],
    hooks: [{ hook: "shouldStopAfterTurn", nth: 0, behavior: { settles: "now" }, stops: true }],
  },
  "two sequential calls, and a listener that fails at the steering that skipped one": {
    execution: "sequential",
    answers: [calls({ id: "a", tool: later }, { id: "b" })],
    hooks: [{ hook: "shouldStopAfterTurn", nth: 0, behavior: { settles: "now" }, stops: true }],
    listeners: [{ on: "message_end", nth: 5, behavior: laterFails }],
  },
  "calls that are not executed": {
    answers: [calls({ id: "a", kind: "unknown" }, { id: "b", kind: "invalid" }, { id: "c", tool: later })],
  },
  "a guard that blocks": { answers: [calls({ id: "a", guard: later, blocks: true }, { id: "b", tool: later })] },
  "a guard that fails": { answers: [calls({ id: "a", tool: later }, { id: "b", guard: laterFails })] },
  "a slow guard after one that allowed its call": {
    answers: [calls({ id: "a", tool: later }, { id: "b", guard: later, tool: later })],
  },
  "a review": { answers: [calls({ id: "a", review: later }, { id: "b", review: laterFails })] },
  "a tool that never returns": { answers: [calls({ id: "a", tool: never }, { id: "b", tool: later })] },
  "a tool that reports progress": { answers: [calls({ id: "a", tool: later, updates: 1 })] },
  "a tool that reports its end to a listener that aborts": {
    answers: [calls({ id: "a", tool: { settles: "onAbort" }, updates: 1, updatesOnAbort: true })],
    listeners: [{ on: "tool_execution_update", nth: 0, behavior: { settles: "now" }, action: "abort" }],
  },
  "a tool that reports to a slow listener": {
    answers: [calls({ id: "a", tool: later, updates: 3 })],
    listeners: [
      { on: "tool_execution_update", nth: 0, behavior: later },
      { on: "tool_execution_update", nth: 1, behavior: later },
    ],
  },
  "calls that end the run": { answers: [calls({ id: "a", tool: later, terminates: true })] },
  "a call between two answers": {
    answers: [{ arrives: "later", stopsOnAbort: true, calls: [{ id: "a", tool: later }] }, arrivesNow],
  },
} satisfies Record<string, Scenario>;

/** Calls that tools make. */
const nestedScenarios = {
  "a tool that waits for the calls it makes": {
    answers: [
      calls({
        id: "a",
        waitsForNested: true,
        nested: [
          { id: "x", tool: later },
          { id: "y", tool: laterFails },
        ],
      }),
    ],
  },
  "a tool that ends before the calls it makes": {
    answers: [
      calls({
        id: "a",
        tool: later,
        nested: [
          { id: "x", tool: later, updates: 1 },
          { id: "y", tool: never },
        ],
      }),
    ],
  },
  "a tool that fails before the call it makes stops": {
    answers: [calls({ id: "a", tool: laterFails, nested: [{ id: "x", tool: { settles: "onAbort" } }] })],
  },
  "a tool that never returns and makes calls": {
    answers: [calls({ id: "a", tool: never, nested: [{ id: "x", tool: later, review: later }] }, { id: "b" })],
  },
  "nested calls that are not executed": {
    answers: [
      calls({
        id: "a",
        waitsForNested: true,
        nested: [
          { id: "x", kind: "unknown" },
          { id: "y", kind: "invalid" },
          { id: "z", guard: later, blocks: true },
        ],
      }),
    ],
  },
  "a nested call whose guard decides after its parent has ended": {
    answers: [calls({ id: "a", tool: later, nested: [{ id: "x", guard: later, tool: later }] })],
  },
  "a call in a call in a call": {
    answers: [
      calls({
        id: "a",
        tool: later,
        nested: [{ id: "x", waitsForNested: true, nested: [{ id: "y", tool: later, review: laterFails }] }],
      }),
    ],
  },
  "two calls with one id that both make calls": {
    answers: [
      calls(
        { id: "a", tool: later, nested: [{ id: "x", tool: later }] },
        { id: "a", nested: [{ id: "x", tool: never }] },
      ),
    ],
  },
  "a nested call that ends the run": {
    answers: [calls({ id: "a", waitsForNested: true, nested: [{ id: "x", tool: later, terminates: true }] })],
  },
  "a nested call that a slow listener hears of": {
    answers: [calls({ id: "a", tool: later, nested: [{ id: "x", tool: later }] })],
    listeners: [
      { on: "tool_execution_start", nth: 1, behavior: later },
      { on: "tool_execution_end", nth: 0, behavior: later },
    ],
  },
  "a nested call that a listener fails at": {
    answers: [calls({ id: "a", tool: later, nested: [{ id: "x", tool: later }] })],
    listeners: [{ on: "tool_execution_start", nth: 1, behavior: laterFails }],
  },
} satisfies Record<string, Scenario>;

/** The answers of scenarios with ordered execution. */
const orderedAnswers = {
  "two calls that read": calls({ id: "a", order: "read", tool: later }, { id: "b", order: "read", tool: later }),
  "a call that reads, after one that writes": calls({ id: "a", tool: later }, { id: "b", order: "read", tool: later }),
  "a call that writes, after one that reads": calls(
    { id: "a", order: "read", tool: later },
    { id: "b", guard: later, tool: later },
  ),
  "a call that writes, after one that never returns": calls({ id: "a", order: "read", tool: never }, { id: "b" }),
  "an unordered call after two that write": calls(
    { id: "a", tool: later },
    { id: "b", tool: later },
    { id: "c", order: "unordered", tool: later },
  ),
} satisfies Record<string, AnswerPlan>;

/** Scenarios in which one hook or one listener misbehaves, in every possible way. */
const failingScenarios: Record<string, Scenario> = {};
for (const [index, behavior] of behaviors.entries()) {
  for (const hook of hookNames) {
    for (const nth of [0, 1]) {
      const answers = [calls({ id: "a", tool: later })];
      failingScenarios[`${hook}, call ${nth}, behavior ${index}`] = { answers, hooks: [{ hook, nth, behavior }] };
    }
  }
  if (behavior === never) continue;
  for (const on of eventTypes) {
    const answers = [calls({ id: "a", tool: later, updates: 1 })];
    failingScenarios[`listener of ${on}, behavior ${index}`] = { answers, listeners: [{ on, nth: 0, behavior }] };
  }
}

const countLater = (behavior?: Behavior) => (behavior?.settles === "later" ? 1 : 0);

function countCallSteps({ tool, guard, review, updates = 0, nested = [] }: CallPlan): number {
  const own = countLater(tool) + countLater(guard) + countLater(review) + updates;
  return nested.reduce((steps, plan) => steps + countCallSteps(plan), own);
}

/** How many steps of a script the scheduler orders. */
function countSteps({ answers, hooks = [], listeners = [], actions: userActions = [] }: Omit<Script, "api">): number {
  let steps = userActions.length;
  for (const { arrives, opens, calls: plans = [] } of answers) {
    steps += (arrives === "later" ? 2 : 0) + countLater(opens);
    for (const plan of plans) steps += countCallSteps(plan);
  }
  for (const { behavior } of [...hooks, ...listeners]) steps += countLater(behavior);
  return steps;
}

/** Every subset of `items` with at most `maxSize` items. */
function getSubsets<T>(items: readonly T[], maxSize: number): T[][] {
  const [first, ...rest] = items;
  if (first === undefined || maxSize === 0) return [[]];
  return [...getSubsets(rest, maxSize), ...getSubsets(rest, maxSize - 1).map((subset) => [first, ...subset])];
}

const maxSteps = 6;

const isLong = Boolean(process.env["TAU_LONG"]);
/** How many scripts stand for each one that is run, by their number of steps. */
const strides: readonly number[] = isLong ? [] : [1, 1, 1, 1, 6, 8, 12];
/** At least one of so many orders is left. */
const share = isLong ? 1 : 8;

/** Runs each scenario in every order, with every subset of at most `maxActions` actions that leaves it at six steps. */
async function countOrders(
  api: Script["api"],
  runs: Record<string, Scenario>,
  userActions: readonly Action[],
  maxActions: number,
): Promise<number> {
  let orders = 0;
  const scripts: number[] = [];
  for (const scenario of Object.values(runs)) {
    for (const subset of getSubsets(userActions, Math.min(maxActions, maxSteps - countSteps(scenario)))) {
      const script: Script = { api, ...scenario, actions: subset };
      const steps = countSteps(script);
      scripts[steps] = (scripts[steps] ?? 0) + 1;
      if (scripts[steps] % (strides[steps] ?? 1) !== 0) continue;
      orders += await runEveryOrder((choose) => simulate(script, choose));
    }
  }
  return orders;
}

const timeoutMs = 300_000;

describe("in every order of up to six steps, the laws hold", () => {
  test("for runAgentLoop with every action of the user", { timeout: timeoutMs }, async () => {
    expect(await countOrders("sink", scenarios, ["abort", "steer", "followUp"], 3)).toBeGreaterThan(2_000 / share);
  });

  test("for runAgentLoop with every behavior of a hook or a listener", { timeout: timeoutMs }, async () => {
    expect(await countOrders("sink", failingScenarios, ["abort", "steer"], 2)).toBeGreaterThan(2_000 / share);
  });

  test("for agentLoop and runAgentLoopContinue", { timeout: timeoutMs }, async () => {
    for (const api of ["stream", "continue"] as const) {
      expect(await countOrders(api, scenarios, ["abort", "followUp"], 2)).toBeGreaterThan(500 / share);
    }
  });

  test("for ordered calls", { timeout: timeoutMs }, async () => {
    const ordered: Record<string, Scenario> = {};
    for (const [name, answer] of Object.entries(orderedAnswers)) {
      ordered[name] = { execution: "ordered", answers: [answer] };
    }
    expect(await countOrders("sink", ordered, ["abort", "steer"], 2)).toBeGreaterThan(100 / share);
    expect(await countOrders("agent", ordered, ["abort", "interrupt"], 1)).toBeGreaterThan(50 / share);
  });

  test("for calls that tools make", { timeout: timeoutMs }, async () => {
    expect(await countOrders("sink", nestedScenarios, ["abort", "steer"], 2)).toBeGreaterThan(500 / share);
    expect(await countOrders("agent", nestedScenarios, ["abort", "interrupt"], 1)).toBeGreaterThan(100 / share);
  });

  test("for an Agent that is steered, interrupted and aborted", { timeout: timeoutMs }, async () => {
    expect(await countOrders("agent", scenarios, ["abort", "steer", "interrupt"], 3)).toBeGreaterThan(3_000 / share);
  });

  test("for an Agent that is interrupted and has follow-ups", { timeout: timeoutMs }, async () => {
    expect(await countOrders("agent", scenarios, ["followUp", "interrupt"], 2)).toBeGreaterThan(500 / share);
    const { "an answer that arrives slowly": answer, "two sequential calls": sequence } = scenarios;
    const all = ["abort", "steer", "interrupt", "followUp"] as const;
    expect(await countOrders("agent", { answer, sequence }, all, 4)).toBeGreaterThan(500 / share);
  });

  test("for an Agent that is reset, cleared, prompted and continued", { timeout: timeoutMs }, async () => {
    const userActions = ["reset", "clear", "prompt", "continue", "interrupt"] as const;
    expect(await countOrders("agent", scenarios, userActions, 2)).toBeGreaterThan(2_000 / share);
  });

  test("for an Agent with every behavior of a hook or a listener", { timeout: timeoutMs }, async () => {
    expect(await countOrders("agent", failingScenarios, ["abort", "interrupt"], 2)).toBeGreaterThan(2_000 / share);
  });
});

const behavior = fc.constantFrom<Behavior>(later, later, later, { settles: "now" }, ...behaviors);

const callFields = {
  id: fc.constantFrom("a", "b", "c"),
  kind: fc.constantFrom("work", "work", "work", "unknown", "invalid"),
  order: fc.constantFrom("read", "write", "unordered"),
  tool: behavior,
  guard: behavior,
  blocks: fc.boolean(),
  review: behavior,
  updates: fc.nat(3),
  updatesOnAbort: fc.boolean(),
  terminates: fc.boolean(),
} as const;

/** A call whose tools make calls, down to this depth. */
const createCall = (depth: number): fc.Arbitrary<CallPlan> =>
  fc.record<CallPlan, "id" | "tool">(
    depth === 0
      ? callFields
      : { ...callFields, nested: fc.array(createCall(depth - 1), { maxLength: 2 }), waitsForNested: fc.boolean() },
    { requiredKeys: ["id", "tool"] },
  );

const anyCall = createCall(1);

const anyAnswer = fc.record<AnswerPlan, "arrives">(
  {
    arrives: fc.constantFrom("now", "later", "later", "never"),
    stopsOnAbort: fc.boolean(),
    opens: behavior,
    calls: fc.array(anyCall, { maxLength: 4 }),
    ends: fc.constantFrom("complete", "complete", "complete", "complete", "length", "error", "cut"),
  },
  { requiredKeys: ["arrives"] },
);

const anyHook = fc.record<HookPlan, "hook" | "nth" | "behavior">(
  { hook: fc.constantFrom(...hookNames), nth: fc.nat(3), behavior, stops: fc.boolean() },
  { requiredKeys: ["hook", "nth", "behavior"] },
);

const anyListener = fc.record<ListenerPlan, "on" | "nth" | "behavior">(
  {
    on: fc.constantFrom(...eventTypes),
    nth: fc.nat(5),
    behavior: behavior.filter(({ settles }) => settles !== "never"),
    action: fc.constantFrom(...actions),
  },
  { requiredKeys: ["on", "nth", "behavior"] },
);

const anyScript: fc.Arbitrary<Script> = fc
  .record<Script, "api" | "answers">(
    {
      api: fc.constantFrom("agent", "agent", "agent", "sink", "sink", "stream", "continue"),
      execution: fc.constantFrom("parallel", "sequential", "ordered"),
      queues: fc.constantFrom("all", "one-at-a-time"),
      answers: fc.array(anyAnswer, { minLength: 1, maxLength: 4 }),
      hooks: fc.array(anyHook, { maxLength: 3 }),
      listeners: fc.array(anyListener, { maxLength: 6 }),
      actions: fc.array(fc.constantFrom(...actions), { maxLength: 8 }),
    },
    { requiredKeys: ["api", "answers"] },
  )
  .filter((script) => countSteps(script) > maxSteps);

/** The seed that a failure printed, to run the same scripts in the same orders again. */
const { LAWS_SEED } = process.env;

test("in random orders of more steps, the laws hold", { timeout: timeoutMs }, async () => {
  const law = fc.asyncProperty(anyScript, fc.array(fc.nat(30), { maxLength: 100 }), (script, numbers) =>
    simulate(script, toOrder(numbers)),
  );
  await fc.assert(law, {
    numRuns: isLong ? 2_000 : 300,
    ...(LAWS_SEED !== undefined && { seed: Number(LAWS_SEED) }),
  });
});
