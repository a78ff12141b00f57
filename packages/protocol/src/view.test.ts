import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { unwrapEvent, wrapEvent } from "./envelope.ts";
import type { SessionEntry } from "./entry.ts";
import type { SessionEvent } from "./event.ts";
import { addOlderEntries, emptyView, type LiveTool, reduce, type View, viewFromEntries, windowSize } from "./view.ts";

const reduceAll = (events: readonly SessionEvent[], view: View = emptyView) => events.reduce(reduce, view);

/** Steps that a run may take, drawn at random; each makes events, and entries as the harness appends them. */
type Step =
  | { kind: "turn"; text: string[]; calls: string[]; isCut: boolean }
  | { kind: "steer"; text: string }
  | { kind: "navigate"; back: number }
  | { kind: "name"; name: string }
  | { kind: "retry" }
  | { kind: "ask"; isAnswered: boolean };

const steps: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant("turn" as const),
    text: fc.array(fc.string(), { maxLength: 4 }),
    calls: fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 3 }),
    isCut: fc.boolean(),
  }),
  fc.record({ kind: fc.constant("steer" as const), text: fc.string() }),
  fc.record({ kind: fc.constant("navigate" as const), back: fc.nat(6) }),
  fc.record({ kind: fc.constant("name" as const), name: fc.string() }),
  fc.record({ kind: fc.constant("retry" as const) }),
  fc.record({ kind: fc.constant("ask" as const), isAnswered: fc.boolean() }),
);

/** The events and the log of a run that takes these steps. */
function play(run: readonly Step[]): { events: SessionEvent[]; entries: SessionEntry[] } {
  const events: SessionEvent[] = [];
  const entries: SessionEntry[] = [];
  const unanswered: string[] = [];
  let leafId: string | null = null;
  const append = (fields: { type: string; [field: string]: unknown }, parentId = leafId) => {
    const id = String(entries.length + 1);
    const entry = { ...fields, id, parentId, timestamp: "2026-01-01T00:00:00.000Z" } as unknown as SessionEntry;
    entries.push(entry);
    events.push({ type: "entry_appended", entry });
    leafId = fields["customType"] === "tau.navigated" ? parentId : entry.id;
  };
  events.push({ type: "agent_start", sessionId: "s", model: "m", tools: [], thinkingLevel: "off", timestamp: 0 });
  for (const [turnIndex, step] of run.entries()) {
    switch (step.kind) {
      case "turn": {
        const messageId = `m${turnIndex}`;
        events.push({ type: "turn_start", turnId: `t${turnIndex}`, turnIndex, messageCount: entries.length });
        events.push({ type: "message_start", messageId, role: "assistant", model: "m", usage: { inputTokens: 0 } });
        for (const delta of step.text) events.push({ type: "text_delta", messageId, delta, index: 0 });
        for (const id of step.calls) {
          events.push({ type: "toolcall_delta", messageId, toolCallId: id, toolName: "echo", delta: "{}" });
        }
        const usage = { inputTokens: 1, outputTokens: 1 };
        append({ type: "message", message: { role: "assistant", content: step.text } });
        events.push({ type: "message_end", messageId, stopReason: step.isCut ? "aborted" : "end_turn", usage });
        for (const toolCallId of step.calls) {
          events.push({ type: "tool_execution_start", toolCallId, toolName: "echo", input: {}, messageId });
        }
        for (const toolCallId of step.calls) {
          events.push({ type: "tool_execution_update", toolCallId, updateType: "stdout", content: "x" });
          events.push({ type: "tool_execution_end", toolCallId, success: true, output: "x", durationMs: 1 });
          append({ type: "message", message: { role: "toolResult", toolCallId } });
        }
        events.push({ type: "turn_end", turnId: `t${turnIndex}`, hasToolCalls: false, shouldContinue: false });
        break;
      }
      case "steer":
        events.push({ type: "queue_changed", steering: [{ id: "q", content: step.text }], followUps: [] });
        events.push({ type: "queue_changed", steering: [], followUps: [] });
        append({ type: "message", message: { role: "user", content: step.text } });
        break;
      case "navigate":
        append({ type: "custom", customType: "tau.navigated" }, entries.at(-1 - step.back)?.id ?? null);
        break;
      case "name":
        append({ type: "session_info", name: step.name });
        break;
      case "retry":
        events.push({ type: "retry_scheduled", attempt: 1, maxAttempts: 3, delayMs: 1, reason: "overloaded" });
        break;
      case "ask":
        events.push({
          type: "approval_requested",
          approval: {
            id: `a${turnIndex}`,
            toolCallId: "a",
            toolName: "bash",
            summary: "rm",
            reason: "it asks",
            choices: [],
          },
        });
        unanswered.push(`a${turnIndex}`);
        if (step.isAnswered) {
          const approvalId = unanswered.pop()!;
          events.push({ type: "approval_resolved", approvalId, decision: "allowed", by: "person" });
        }
    }
  }
  // A run ends its own questions before it ends itself.
  for (const approvalId of unanswered) {
    events.push({ type: "approval_resolved", approvalId, decision: "denied", by: "abort" });
  }
  const totals = { totalTurns: run.length, totalTokens: 0, durationMs: 0 };
  events.push({ type: "agent_end", sessionId: "s", ...totals, terminationReason: "no_tool_calls" });
  return { events, entries };
}

test("reducing all events of a run equals the state rebuilt from its log, and nothing is live afterwards", () => {
  fc.assert(
    fc.property(fc.array(steps, { maxLength: 12 }), (run) => {
      const { events, entries } = play(run);
      const seen = reduceAll(events);
      expect(seen.log).toEqual(viewFromEntries(entries).log);
      expect(seen.live).toEqual({ ...emptyView.live, ended: { reason: "no_tool_calls", detail: undefined } });
    }),
    { numRuns: 300 },
  );
});

test("a question that the run did not ask stays open when the run ends", () => {
  const approval = {
    id: "q",
    toolCallId: "port-80",
    toolName: "bash",
    summary: "Open",
    reason: "it asks",
    choices: [],
  };
  const asked = reduceAll([{ type: "approval_requested", approval }, ...play([]).events]);
  expect(asked.live.approvals).toEqual([approval]);
  const answered = reduce(asked, { type: "approval_resolved", approvalId: "q", decision: "denied", by: "person" });
  expect(answered.live.approvals).toEqual([]);
});

test("an event is the same behind a wire, and a view is the same when its events crossed one", () => {
  fc.assert(
    fc.property(fc.array(steps, { maxLength: 8 }), (run) => {
      const { events } = play(run);
      const crossed = events.map((event, seq) => {
        const sent = JSON.stringify(wrapEvent(event, "s", { seq, epoch: "e", stateVersion: 1 }));
        return unwrapEvent(JSON.parse(sent) as Parameters<typeof unwrapEvent>[0])!;
      });
      expect(crossed).toEqual(events);
    }),
  );
});

test("no event changes a view that somebody holds", () => {
  const { events } = play([
    { kind: "turn", text: ["a", "b"], calls: ["a", "a"], isCut: false },
    { kind: "navigate", back: 1 },
    { kind: "ask", isAnswered: true },
  ]);
  let view = emptyView;
  for (const event of events) {
    const before = structuredClone(view);
    const next = reduce(view, event);
    expect(view).toEqual(before);
    view = next;
  }
});

describe("while a run goes on", () => {
  const { events } = play([{ kind: "turn", text: ["Hel", "lo"], calls: ["1", "1", "2"], isCut: false }]);
  const until = (type: SessionEvent["type"], nth = 1) => {
    let count = 0;
    const at = events.findIndex((event) => event.type === type && ++count === nth);
    return reduceAll(events.slice(0, at + 1)).live;
  };

  test("the answer grows delta by delta, and is gone when it is in the log or has ended without", () => {
    expect(until("text_delta", 2).message).toMatchObject({ id: "m0", text: "Hello", calls: [] });
    expect(until("toolcall_delta", 3).message?.calls).toEqual([
      { id: "1", name: "echo", arguments: "{}{}" },
      { id: "2", name: "echo", arguments: "{}" },
    ]);
    expect(until("entry_appended").message).toBeUndefined();
    const lost = events.filter(({ type }) => type !== "entry_appended");
    const end = lost.findIndex(({ type }) => type === "message_end");
    expect(reduceAll(lost.slice(0, end)).live.message).toBeDefined();
    expect(reduceAll(lost.slice(0, end + 1)).live.message).toBeUndefined();
  });

  test("an entry that is no answer leaves the answer that is arriving", () => {
    const arriving = reduceAll(
      events.slice(
        0,
        events.findIndex(({ type }) => type === "entry_appended"),
      ),
    );
    const said = { type: "message", id: "u", parentId: null, timestamp: "", message: { role: "user", content: "x" } };
    const next = reduce(arriving, { type: "entry_appended", entry: said as unknown as SessionEntry });
    expect(next.live).toBe(arriving.live);
  });

  test("each end is of one call, also when two share an id", () => {
    expect(until("tool_execution_start", 3).tools.map(({ id }) => id)).toEqual(["1", "1", "2"]);
    expect(until("tool_execution_end").tools.map(({ id }) => id)).toEqual(["1", "2"]);
    expect(until("tool_execution_end", 3).tools).toEqual([]);
  });

  test("what comes too late, or from a newer server, changes nothing", () => {
    const idle = reduceAll(events);
    expect(reduce(idle, { type: "text_delta", messageId: "m0", delta: "late", index: 0 })).toBe(idle);
    expect(reduce(idle, { type: "from_the_future" } as unknown as SessionEvent)).toBe(idle);
  });
});

const entry = (id: string, parentId: string | null): SessionEntry => ({
  type: "session_info",
  id,
  parentId,
  timestamp: "",
});

/** The ids from the root to the leaf, by following parents through the whole log. */
function walkBranch(entries: readonly SessionEntry[], leafId: string | null): string[] {
  const byId = new Map(entries.map((one) => [one.id, one]));
  const ids: string[] = [];
  for (let id = leafId; id !== null; id = byId.get(id)?.parentId ?? null) ids.unshift(id);
  return ids;
}

describe("the window over the shown branch", () => {
  test("holds the end of the branch; older entries, fetched as a surface does, complete it", () => {
    fc.assert(
      fc.property(fc.array(steps, { maxLength: 30 }), fc.integer({ min: 1, max: 5 }), (run, limit) => {
        const { events, entries } = play(run);
        let view = reduceAll(events);
        const branch = walkBranch(entries, view.log.leafId);
        const shown = view.log.entries.map(({ id }) => id);
        expect(shown).toEqual(branch.slice(branch.length - shown.length));
        expect(view.log.hasOlder).toBe(shown.length < branch.length);
        while (view.log.hasOlder) {
          const end = branch.length - view.log.entries.length;
          const older = branch.slice(Math.max(0, end - limit), end).map((id) => entries[Number(id) - 1]!);
          view = addOlderEntries(view, older, end - limit > 0);
        }
        expect(view.log.entries.map(({ id }) => id)).toEqual(branch);
      }),
    );
  });

  test("is bounded, however long the session is", () => {
    let view = emptyView;
    for (let number = 1; number <= 5_000; number++) {
      const next = entry(String(number), number === 1 ? null : String(number - 1));
      view = reduce(view, { type: "entry_appended", entry: next });
      expect(view.log.entries.length).toBeLessThan(2 * windowSize);
      expect(view.log.entries.at(-1)).toBe(next);
    }
    expect(view.log).toMatchObject({ hasOlder: true, leafId: "5000", entryCount: 5_000 });
  });

  test("ignores older entries that do not belong before it", () => {
    const view = viewFromEntries([entry("1", null), entry("2", "1"), entry("3", "2")]);
    expect(addOlderEntries(view, [entry("9", null)], false)).toBe(view);
  });

  test("does not hang in a log whose parents form a circle", () => {
    expect(viewFromEntries([entry("1", "2"), entry("2", "1")]).log.entries).toHaveLength(2);
  });
});

test("a retry is shown until the model says something, also where no new turn begins", () => {
  const take = (view: View, ...events: SessionEvent[]) => events.reduce(reduce, view);
  const retry = { attempt: 1, delayMs: 1, reason: "Busy." };
  const waiting = take(emptyView, { type: "retry_scheduled", ...retry });
  const start: SessionEvent = {
    type: "message_start",
    messageId: "m",
    role: "assistant",
    model: "p/m",
    usage: { inputTokens: 0 },
  };
  const begun = take(waiting, start);
  expect([waiting.live.retry, begun.live.retry]).toEqual([retry, retry]);
  expect(take(begun, { type: "text_delta", messageId: "m", delta: "H", index: 0 }).live.retry).toBeUndefined();
});

test("calls that tools make are shown under the calls that made them, and leave with their ends", () => {
  const start = (toolCallId: string, parentToolCallId?: string): SessionEvent => ({
    type: "tool_execution_start",
    toolCallId,
    toolName: "echo",
    input: {},
    messageId: "m",
    ...(parentToolCallId !== undefined && { parentToolCallId }),
  });
  const end = (toolCallId: string, parentToolCallId?: string): SessionEvent => ({
    type: "tool_execution_end",
    toolCallId,
    success: true,
    output: "",
    durationMs: 1,
    ...(parentToolCallId !== undefined && { parentToolCallId }),
  });
  const update: SessionEvent = {
    type: "tool_execution_update",
    toolCallId: "a/1/1",
    updateType: "stdout",
    content: "x",
    parentToolCallId: "a/1",
  };
  const describe = (events: readonly SessionEvent[]): unknown => {
    const name = ({ id, updates, calls }: LiveTool): unknown => [id, updates.length, calls.map(name)];
    return reduceAll(events).live.tools.map(name);
  };
  const events = [start("a"), start("b"), start("a/1", "a"), start("a/1/1", "a/1"), start("a/2", "a"), update];
  const inner = ["a/1", 0, [["a/1/1", 1, []]]];
  expect(describe(events)).toEqual([
    ["a", 0, [inner, ["a/2", 0, []]]],
    ["b", 0, []],
  ]);
  const ended = [...events, end("a/1/1", "a/1"), end("a/1", "a")];
  expect(describe(ended)).toEqual([
    ["a", 0, [["a/2", 0, []]]],
    ["b", 0, []],
  ]);
  expect(describe([...ended, end("a/2", "a"), end("a")])).toEqual([["b", 0, []]]);
  // A client may know nothing of the parent.
  expect(describe([start("x/1", "x")])).toEqual([["x/1", 0, []]]);
  expect(describe([start("x/1", "x"), end("x/1", "x")])).toEqual([]);
});
