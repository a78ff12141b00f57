/** A run ends for exactly one reason, whatever happens. */
import type { AgentTool } from "@tau/agent";
import { call, createFakeClock, type ScriptedTurn, text } from "@tau/ai/testing";
import type { SessionEvent, TerminationReason } from "@tau/protocol";
import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import type { AgentSessionParams } from "../../src/construct/params.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import { type Desk, type DeskOptions, never, openDesk, sayTool, until } from "./desk.ts";

const hung = (name = "hang"): AgentTool => ({ ...sayTool(name), execute: () => never() });

/** A desk with a clock that stands still, and its session in memory. */
async function timedDesk(turns: Parameters<typeof openDesk>[0], options: DeskOptions = {}) {
  const clock = createFakeClock();
  const sessionManager = await SessionManager.inMemory("/project", { clock });
  const desk = await openDesk(turns, { clock, sessionManager, ...options });
  return { ...desk, clock };
}

function getEnd(events: readonly SessionEvent[]): { reason: TerminationReason; detail: string | undefined } {
  const ends = events.filter((event) => event.type === "agent_end");
  expect(ends).toHaveLength(1);
  expect(events.findLast(({ type }) => type !== "entry_appended" && type !== "queue_changed")?.type).toBe("agent_end");
  const [{ terminationReason: reason, detail }] = ends as [(typeof ends)[number]];
  return { reason, detail };
}

const running = ({ events }: Desk) => until(() => events.some(({ type }) => type === "tool_execution_start"));

test("no tool calls: the answer is the end", async () => {
  const { session, events } = await openDesk([[text("Hello.")]]);
  await session.prompt("Hi");
  expect(getEnd(events)).toEqual({ reason: "no_tool_calls", detail: undefined });
  expect(events.find(({ type }) => type === "turn_end")).toMatchObject({
    hasToolCalls: false,
    shouldContinue: false,
    terminationReason: "no_tool_calls",
  });
});

test("48 hours: the run ends although its tool hangs, and the call has its outcome", async () => {
  const desk = await timedDesk([[call("hang")]], { customTools: [hung()] });
  const done = desk.session.prompt("Wait.");
  await running(desk);
  await desk.clock.advance(48 * 60 * 60 * 1_000 - 1);
  expect(desk.session.isStreaming).toBe(true);
  await desk.clock.advance(1_000);
  await done;
  expect(getEnd(desk.events)).toEqual({ reason: "timeout_48h", detail: undefined });
  expect(desk.session.messages.map(({ role }) => role)).toEqual(["user", "assistant", "toolResult"]);
});

test("a run ends at the limit of the settings, which is told", async () => {
  const desk = await timedDesk([[call("hang")]], {
    customTools: [hung()],
    settings: { limits: { runMs: 90 * 60_000 } },
  });
  const done = desk.session.prompt("Wait.");
  await running(desk);
  await desk.clock.advance(90 * 60_000 + 1_000);
  await done;
  expect(getEnd(desk.events)).toEqual({ reason: "timeout_48h", detail: "timeout_5400s" });
});

test("120 seconds without a token: tried again like an overload, and then the reason", async () => {
  const idle = { failure: { kind: "idle_timeout", message: "Nothing came for 120 seconds." } } as const;
  const desk = await timedDesk([idle, idle, idle, idle]);
  const done = desk.session.prompt("Hello?");
  for (let tries = 1; tries <= 3; tries++) {
    await until(() => desk.events.filter(({ type }) => type === "retry_scheduled").length === tries);
    // No longer: the next one may begin to wait before the clock stands still again.
    await desk.clock.advance(1_000 * 2 ** tries);
  }
  await done;
  expect(getEnd(desk.events)).toEqual({ reason: "idle_timeout_120s", detail: "idle_timeout" });
  expect(desk.model.asked).toHaveLength(4);
  expect(desk.model.asked[0]?.options.idleTimeoutMs).toBe(120_000);
  const delays = desk.events.flatMap((event) => (event.type === "retry_scheduled" ? event.delayMs : []));
  expect(delays).toEqual([2_000, 4_000, 8_000]);
});

test.each<[string, (desk: Desk, controller: AbortController) => unknown, TerminationReason]>([
  ["abort()", ({ session }) => session.abort(), "abort_signal"],
  ["the signal of the parameters", (_desk, controller) => controller.abort(), "abort_signal"],
  ["a gateway that is gone", ({ session }) => session.abort("gateway_disconnected"), "gateway_disconnected"],
  [
    "a signal that says so",
    (_desk, controller) => controller.abort(new Error("gateway_disconnected")),
    "gateway_disconnected",
  ],
  ["dispose()", ({ session }) => session.dispose(), "abort_signal"],
])("%s ends the run, although the tool hangs", async (_name, end, reason) => {
  const controller = new AbortController();
  const desk = await openDesk([[call("hang")]], { customTools: [hung()], abortSignal: controller.signal });
  const done = desk.session.prompt("Wait.");
  await running(desk);
  void end(desk, controller);
  await done;
  expect(getEnd(desk.events).reason).toBe(reason);
});

test("a parent that ends takes its child with it", async () => {
  const parent = await openDesk([[call("hang")]], { customTools: [hung()] });
  const params: AgentSessionParams = { parentSessionId: parent.session.sessionId };
  const child = await openDesk([[call("hang")]], { ...params, customTools: [hung()] });
  const parentDone = parent.session.prompt("Start a child.");
  await running(parent);
  const childDone = child.session.prompt("Work.");
  await running(child);
  await parent.session.abort();
  await Promise.all([parentDone, childDone]);
  expect(getEnd(child.events).reason).toBe("abort_signal");
  expect(child.session.sessionManager.parentId).toBe(parent.session.sessionId);
});

test("error: it is told before the end, and nothing is tried again that cannot pass", async () => {
  const { session, events } = await openDesk([{ failure: { kind: "auth", message: "The key is wrong." } }]);
  const outcome = await session.prompt("Hi");
  expect(getEnd(events)).toEqual({ reason: "error", detail: "auth" });
  const told = events.filter(({ type }) => type === "error" || type === "agent_end");
  expect(told[0]).toMatchObject({ type: "error", code: "auth", message: "The key is wrong.", recoverable: false });
  expect(outcome).toMatchObject({ failure: { kind: "auth" } });
});

test("a failure that passes is tried again, and what was sent does not show it", async () => {
  const busy: ScriptedTurn = { failure: { kind: "overloaded", message: "Busy." }, content: [text("half a th")] };
  const desk = await timedDesk([busy, [text("Whole.")], [text("Again.")]]);
  const done = desk.session.prompt("Hi");
  await until(() => desk.events.some(({ type }) => type === "retry_scheduled"));
  await desk.clock.advance(10_000);
  await done;
  expect(getEnd(desk.events).reason).toBe("no_tool_calls");
  await desk.session.prompt("And now?");
  const sent = desk.model.asked.map(({ context }) => context.messages.map(({ role }) => role));
  expect(sent).toEqual([["user"], ["user"], ["user", "assistant", "user"]]);
});

test("an abort while it waits to try again ends the run at once", async () => {
  const desk = await timedDesk([{ failure: { kind: "overloaded", message: "Busy." } }]);
  const done = desk.session.prompt("Hi");
  await until(() => desk.events.some(({ type }) => type === "retry_scheduled"));
  await desk.session.abort();
  await done;
  expect(getEnd(desk.events).reason).toBe("abort_signal");
});

test("a tool that asks for the end, and the model itself, end it with a detail", async () => {
  const terminate: AgentTool = {
    ...sayTool("stop"),
    execute: async () => ({ content: [text("enough")], terminate: true }),
  };
  const first = await openDesk([[call("stop")]], { customTools: [terminate] });
  await first.session.prompt("Go.");
  expect(getEnd(first.events)).toEqual({ reason: "no_tool_calls", detail: "terminated" });
  const second = await openDesk([[call("agent_interrupt", { reason: "nothing to do" })]], {
    binding: { channel: "chat", tools: [] },
  });
  await second.session.prompt("Go.");
  expect(getEnd(second.events)).toEqual({ reason: "abort_signal", detail: "nothing to do" });
});

test("a reply that was cut off ends the run, and only its end says so", async () => {
  const { session, events } = await openDesk([{ content: [text("and so o")], stopReason: "length" }]);
  await session.prompt("Tell me everything.");
  expect(getEnd(events)).toEqual({ reason: "no_tool_calls", detail: "length" });
  expect(events.filter(({ type }) => type === "notice")).toEqual([]);
});

test("calls that are cut off again and again end the run after the fourth, none of them executed", async () => {
  let executed = 0;
  const tool = { ...sayTool("write_much"), execute: async () => (executed++, { content: [text("written")] }) };
  const cut: ScriptedTurn = { content: [call("write_much")], stopReason: "length" };
  const { session, events, model } = await openDesk([cut, cut, cut, cut, cut, cut], { customTools: [tool] });
  await session.prompt("Write.");
  expect(executed).toBe(0);
  expect(model.asked).toHaveLength(4);
  expect(getEnd(events)).toEqual({ reason: "no_tool_calls", detail: "length" });
});

test.each<[string, DeskOptions["settings"], string]>(
  [
    ["turns", { turns: 2 }, "budget_turns"],
    ["tokens", { tokens: 2_000 }, "budget_tokens"],
    ["cost", { cost: 0.001 }, "budget_cost"],
  ].map(([name, budgets, detail]) => [name, { budgets }, detail] as [string, DeskOptions["settings"], string]),
)("a budget of %s ends the run before the request that would exceed it", async (_name, settings, detail) => {
  const turn = { content: [call("look")], usage: { input: 500, output: 100 } };
  const cost = { input: 1, output: 2, cacheRead: 0, cacheWrite: 0 };
  const { session, events } = await openDesk(
    Array.from({ length: 50 }, () => turn),
    {
      customTools: [sayTool("look")],
      settings: settings!,
      scripted: { model: { cost, maxTokens: 1_024 } },
    },
  );
  await session.prompt("Look for ever.");
  expect(getEnd(events)).toEqual({ reason: "no_tool_calls", detail });
  const { tokens, cost: spent } = await session.stats();
  expect(tokens.total).toBeLessThanOrEqual(2_000);
  expect(spent).toBeLessThanOrEqual(0.002);
});

test("a budget of time ends a run that hangs", async () => {
  const desk = await timedDesk([[call("hang")]], { customTools: [hung()], settings: { budgets: { timeMs: 5_000 } } });
  const done = desk.session.prompt("Wait.");
  await running(desk);
  await desk.clock.advance(6_000);
  await done;
  expect(getEnd(desk.events)).toEqual({ reason: "no_tool_calls", detail: "budget_time" });
});

test("what a child spends counts for its parent's run", async () => {
  const parent = await openDesk([[call("hang")]], {
    customTools: [hung()],
    settings: { budgets: { turns: 3 } },
  });
  const parentDone = parent.session.prompt("Start children.");
  await running(parent);
  const child = await openDesk([[call("look")], [call("look")], [call("look")]], {
    parentSessionId: parent.session.sessionId,
    customTools: [sayTool("look")],
  });
  await child.session.prompt("Look.");
  expect(child.model.asked).toHaveLength(2);
  expect(getEnd(child.events)).toEqual({ reason: "no_tool_calls", detail: "budget_turns" });
  await parent.session.abort();
  await parentDone;
});

test("a hung provider, a hung guard and a hung question cannot outlive an abort", async () => {
  const hungProvider = await openDesk([[text("never")]], { streamFn: () => never() });
  const first = hungProvider.session.prompt("Hi");
  await until(() => hungProvider.events.some(({ type }) => type === "turn_start"));
  await hungProvider.session.abort();
  await first;
  expect(getEnd(hungProvider.events).reason).toBe("abort_signal");
  const hungQuestion = await openDesk([[call("read", { path: "/etc/hostname" })]], { ask: () => never() });
  const second = hungQuestion.session.prompt("Read it.");
  await until(() => hungQuestion.events.some(({ type }) => type === "approval_requested"));
  await hungQuestion.session.abort();
  await second;
  expect(getEnd(hungQuestion.events).reason).toBe("abort_signal");
  expect(hungQuestion.events).toContainEqual(
    expect.objectContaining({ type: "approval_resolved", decision: "denied" }),
  );
});

test("one signal ends many sessions, and has one listener while they run and none afterwards", async () => {
  const controller = new AbortController();
  const desks = await Promise.all(
    Array.from({ length: 12 }, () =>
      openDesk([[call("hang")]], { customTools: [hung()], abortSignal: controller.signal }),
    ),
  );
  const runs = desks.map(({ session }) => session.prompt("Wait."));
  for (const desk of desks) await running(desk);
  expect(getEventListeners(controller.signal, "abort")).toHaveLength(1);
  controller.abort("shutdown");
  await Promise.all(runs);
  expect(desks.map(({ events }) => getEnd(events))).toEqual(
    desks.map(() => ({ reason: "abort_signal", detail: "shutdown" })),
  );
  expect(getEventListeners(controller.signal, "abort")).toEqual([]);
});

test("a limit of the cost that a model without prices cannot reach is told once", async () => {
  const { session } = await openDesk([[text("One.")], [text("Two.")]]);
  session.override({ budgets: { cost: 1 } });
  await session.prompt("First.");
  await session.prompt("Second.");
  expect(session.notices.filter(({ code }) => code === "budget")).toEqual([
    {
      code: "budget",
      message:
        "The model scripted/scripted has no prices, so the limit of the cost does not end a run. Write its prices into models.json, or limit turns, tokens or time.",
    },
  ]);
});
