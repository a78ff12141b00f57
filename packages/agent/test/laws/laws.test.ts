/**
 * What holds in every run, whoever misbehaves in whatever order. Scripts say what the model, the tools, the hooks, the
 * listeners and the user do; the scheduler decides when. Few events are played in every order there is, many in orders
 * that are drawn. A failure prints the script and the order; a drawn one also the seed that draws it again.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { play } from "./play.ts";
import { everyOrder, getOrder } from "./scheduler.ts";
import {
  type Action,
  actions,
  type AnswerPlan,
  type CallPlan,
  type Conduct,
  type HookPlan,
  hookNames,
  type ListenerPlan,
  type Script,
} from "./script.ts";

const later: Conduct = { settles: "later" };
const laterFails: Conduct = { settles: "later", fails: true };
const never: Conduct = { settles: "never" };
const conducts: Conduct[] = [
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

const speaksNow: AnswerPlan = { speaks: "now" };
const calls = (...plans: CallPlan[]): AnswerPlan => ({ speaks: "now", calls: plans });

/** What may be going on while the user acts. Who is asked, and what the user does, is added to it. */
type Scene = Omit<Script, "face" | "actions">;

const scenes = {
  "an answer that arrives slowly": { answers: [{ speaks: "later", obeys: true }] },
  "an answer that ignores the abort": { answers: [{ speaks: "later" }] },
  "an answer that falls silent": { answers: [{ speaks: "never" }] },
  "an answer that fails": { answers: [{ speaks: "later", ends: "error" }] },
  "an answer that breaks off in its calls": {
    answers: [{ speaks: "later", ends: "cut", calls: [{ id: "a" }, { id: "b" }] }],
  },
  "an answer that is cut in its calls": {
    answers: [{ speaks: "later", ends: "length", calls: [{ id: "a" }, { id: "a" }] }],
  },
  "a stream function that takes its time": { answers: [{ speaks: "now", opens: later }] },
  "a stream function that fails": { answers: [{ speaks: "now", opens: laterFails }] },
  "two calls at once": { answers: [calls({ id: "a", tool: later }, { id: "b", tool: laterFails })] },
  "two calls with one id": { answers: [calls({ id: "a", tool: later }, { id: "a", tool: later })] },
  "two calls, one after the other": {
    execution: "sequential",
    answers: [calls({ id: "a", tool: later }, { id: "b", tool: later })],
  },
  "two calls, one after the other, of which the run ends": {
    execution: "sequential",
    answers: [calls({ id: "a", tool: later }, { id: "b" })],
    hooks: [{ hook: "shouldStopAfterTurn", nth: 0, conduct: { settles: "now" }, stops: true }],
  },
  "calls that are not executed": {
    answers: [calls({ id: "a", kind: "unknown" }, { id: "b", kind: "invalid" }, { id: "c", tool: later })],
  },
  "a guard that blocks": { answers: [calls({ id: "a", guard: later, blocks: true }, { id: "b", tool: later })] },
  "a guard that fails": { answers: [calls({ id: "a", tool: later }, { id: "b", guard: laterFails })] },
  "a guard that hesitates after another let pass": {
    answers: [calls({ id: "a", tool: later }, { id: "b", guard: later, tool: later })],
  },
  "a review": { answers: [calls({ id: "a", review: later }, { id: "b", review: laterFails })] },
  "a tool that never returns": { answers: [calls({ id: "a", tool: never }, { id: "b", tool: later })] },
  "a tool that reports": { answers: [calls({ id: "a", tool: later, updates: 1 })] },
  "a tool that reports its end, to one who acts": {
    answers: [calls({ id: "a", tool: { settles: "onAbort" }, updates: 1, updatesOnAbort: true })],
    listeners: [{ on: "tool_execution_update", nth: 0, conduct: { settles: "now" }, does: "abort" }],
  },
  "tools that report to one who is slow": {
    answers: [calls({ id: "a", tool: later, updates: 3 })],
    listeners: [
      { on: "tool_execution_update", nth: 0, conduct: later },
      { on: "tool_execution_update", nth: 1, conduct: later },
    ],
  },
  "calls that end the run": { answers: [calls({ id: "a", tool: later, terminates: true })] },
  "a call between two answers": {
    answers: [{ speaks: "later", obeys: true, calls: [{ id: "a", tool: later }] }, speaksNow],
  },
} satisfies Record<string, Scene>;

/** One hook or one listener misbehaves, in every way there is. */
const brokenScenes: Record<string, Scene> = {};
for (const [way, conduct] of conducts.entries()) {
  for (const hook of hookNames) {
    for (const nth of [0, 1]) {
      const answers = [calls({ id: "a", tool: later })];
      brokenScenes[`${hook}, time ${nth}, way ${way}`] = { answers, hooks: [{ hook, nth, conduct }] };
    }
  }
  if (conduct === never) continue;
  for (const on of eventTypes) {
    const answers = [calls({ id: "a", tool: later, updates: 1 })];
    brokenScenes[`listener of ${on}, way ${way}`] = { answers, listeners: [{ on, nth: 0, conduct }] };
  }
}

/** How many things happen that the scheduler orders. */
function toEvents({ answers, hooks = [], listeners = [], actions: deeds = [] }: Omit<Script, "face">): number {
  const held = (conduct?: Conduct) => (conduct?.settles === "later" ? 1 : 0);
  let events = deeds.length;
  for (const { speaks, opens, calls: plans = [] } of answers) {
    events += (speaks === "later" ? 2 : 0) + held(opens);
    for (const { tool, guard, review, updates = 0 } of plans) {
      events += held(tool) + held(guard) + held(review) + updates;
    }
  }
  for (const { conduct } of [...hooks, ...listeners]) events += held(conduct);
  return events;
}

/** Every choice of at most `most` of `all`. */
function choices<T>(all: readonly T[], most: number): T[][] {
  const [first, ...rest] = all;
  if (first === undefined || most === 0) return [[]];
  return [...choices(rest, most), ...choices(rest, most - 1).map((chosen) => [first, ...chosen])];
}

const maxEvents = 6;

/** Plays each scene in every order, with every choice of at most `most` deeds that leaves it at six events. */
async function playEveryOrder(
  face: Script["face"],
  played: Record<string, Scene>,
  deeds: readonly Action[],
  most: number,
): Promise<number> {
  let orders = 0;
  for (const scene of Object.values(played)) {
    for (const chosen of choices(deeds, Math.min(most, maxEvents - toEvents(scene)))) {
      const script: Script = { face, ...scene, actions: chosen };
      orders += await everyOrder((choose) => play(script, choose));
    }
  }
  return orders;
}

const timeoutMs = 60_000;

describe("in every order of up to six events, the laws hold", () => {
  test("for runAgentLoop, whatever the user does meanwhile", { timeout: timeoutMs }, async () => {
    expect(await playEveryOrder("sink", scenes, ["abort", "steer", "followUp"], 3)).toBeGreaterThan(2_000);
  });

  test("for runAgentLoop, whatever a hook or a listener does", { timeout: timeoutMs }, async () => {
    expect(await playEveryOrder("sink", brokenScenes, ["abort", "steer"], 2)).toBeGreaterThan(2_000);
  });

  test("for agentLoop and runAgentLoopContinue", { timeout: timeoutMs }, async () => {
    for (const face of ["stream", "continue"] as const) {
      expect(await playEveryOrder(face, scenes, ["abort", "followUp"], 2)).toBeGreaterThan(500);
    }
  });

  test("for an Agent that is steered, interrupted and aborted", { timeout: timeoutMs }, async () => {
    expect(await playEveryOrder("agent", scenes, ["abort", "steer", "interrupt"], 3)).toBeGreaterThan(3_000);
    expect(await playEveryOrder("agent", scenes, ["followUp", "interrupt"], 2)).toBeGreaterThan(500);
    const { "an answer that arrives slowly": answer, "two calls, one after the other": sequence } = scenes;
    const all = ["abort", "steer", "interrupt", "followUp"] as const;
    expect(await playEveryOrder("agent", { answer, sequence }, all, 4)).toBeGreaterThan(500);
  });

  test("for an Agent that is reset, cleared, prompted and continued", { timeout: timeoutMs }, async () => {
    const deeds = ["reset", "clear", "prompt", "continue", "interrupt"] as const;
    expect(await playEveryOrder("agent", scenes, deeds, 2)).toBeGreaterThan(2_000);
  });

  test("for an Agent, whatever a hook or a listener does", { timeout: timeoutMs }, async () => {
    expect(await playEveryOrder("agent", brokenScenes, ["abort", "interrupt"], 2)).toBeGreaterThan(2_000);
  });
});

const conduct = fc.constantFrom<Conduct>(later, later, later, { settles: "now" }, ...conducts);

const anyCall = fc.record<CallPlan, "id" | "tool">(
  {
    id: fc.constantFrom("a", "b", "c"),
    kind: fc.constantFrom("work", "work", "work", "unknown", "invalid"),
    tool: conduct,
    guard: conduct,
    blocks: fc.boolean(),
    review: conduct,
    updates: fc.nat(3),
    updatesOnAbort: fc.boolean(),
    terminates: fc.boolean(),
  },
  { requiredKeys: ["id", "tool"] },
);

const anyAnswer = fc.record<AnswerPlan, "speaks">(
  {
    speaks: fc.constantFrom("now", "later", "later", "never"),
    obeys: fc.boolean(),
    opens: conduct,
    calls: fc.array(anyCall, { maxLength: 4 }),
    ends: fc.constantFrom("well", "well", "well", "well", "length", "error", "cut"),
  },
  { requiredKeys: ["speaks"] },
);

const anyHook = fc.record<HookPlan, "hook" | "nth" | "conduct">(
  { hook: fc.constantFrom(...hookNames), nth: fc.nat(3), conduct, stops: fc.boolean() },
  { requiredKeys: ["hook", "nth", "conduct"] },
);

const anyListener = fc.record<ListenerPlan, "on" | "nth" | "conduct">(
  {
    on: fc.constantFrom(...eventTypes),
    nth: fc.nat(5),
    conduct: conduct.filter(({ settles }) => settles !== "never"),
    does: fc.constantFrom(...actions),
  },
  { requiredKeys: ["on", "nth", "conduct"] },
);

const anyScript: fc.Arbitrary<Script> = fc
  .record<Script, "face" | "answers">(
    {
      face: fc.constantFrom("agent", "agent", "agent", "sink", "sink", "stream", "continue"),
      execution: fc.constantFrom("parallel", "sequential"),
      queues: fc.constantFrom("all", "one-at-a-time"),
      answers: fc.array(anyAnswer, { minLength: 1, maxLength: 4 }),
      hooks: fc.array(anyHook, { maxLength: 3 }),
      listeners: fc.array(anyListener, { maxLength: 6 }),
      actions: fc.array(fc.constantFrom(...actions), { maxLength: 8 }),
    },
    { requiredKeys: ["face", "answers"] },
  )
  .filter((script) => toEvents(script) > maxEvents);

/** Give it the seed that a failure printed to play the same scripts in the same orders again. */
const { LAWS_SEED } = process.env;

test("in 2,000 orders of more events, the laws hold", { timeout: timeoutMs }, async () => {
  const law = fc.asyncProperty(anyScript, fc.array(fc.nat(30), { maxLength: 100 }), (script, draws) =>
    play(script, getOrder(draws)),
  );
  await fc.assert(law, { numRuns: 2_000, ...(LAWS_SEED !== undefined && { seed: Number(LAWS_SEED) }) });
});
