import type { AgentEvent, AgentMessage } from "@tau/agent";
import { type AssistantMessage, type AssistantMessageEvent, emptyUsage, type StopReason } from "@tau/ai";
import { call, text, thinking } from "@tau/ai/testing";
import type { RunEnd, SessionEvent, WireStopReason } from "@tau/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { endTurn, noTranslation, type Translation, translate } from "./translate.ts";

const answer = (
  content: AssistantMessage["content"] = [],
  fields: Partial<AssistantMessage> = {},
): AssistantMessage => ({
  role: "assistant",
  content,
  api: "test",
  provider: "acme",
  model: "m1",
  usage: emptyUsage(),
  stopReason: "stop",
  timestamp: 1,
  ...fields,
});
const user: AgentMessage = { role: "user", content: "Hi", timestamp: 1 };
const toolResult: AgentMessage = {
  role: "toolResult",
  toolCallId: "c1",
  toolName: "look",
  content: [text("a wall")],
  isError: false,
  timestamp: 1,
};

const usage = { ...emptyUsage(), input: 10, output: 5, cacheRead: 3, cacheWrite: 2, totalTokens: 20 };
const context = { newId: () => "id-1", now: () => 1_500, inputTokens: () => 99, messageCount: () => 4 };

/** In the second turn, in the middle of an answer with a running call. */
const busy: Translation = {
  turns: 2,
  turn: "open",
  turnId: "turn-2",
  messageId: "message-2",
  textLength: 7,
  thinkingLength: 3,
  callStarts: new Map([["c1", 1_000]]),
  endedTurn: undefined,
};
const betweenTurns: Translation = { ...busy, endedTurn: { turnId: "turn-2", hasToolCalls: true } };

const update = (assistantMessageEvent: AssistantMessageEvent): AgentEvent => ({
  type: "message_update",
  message: answer(),
  assistantMessageEvent,
});
const partial = answer([text("Looking."), call("look", {}, "c1")]);

type Row = [law: string, before: Translation, event: AgentEvent, events: SessionEvent[], changes: Partial<Translation>];

describe("an event of the engine", () => {
  test.each<Row>([
    ["the start of the engine's run is not told", busy, { type: "agent_start" }, [], {}],
    ["the end of the engine's run is not told", busy, { type: "agent_end", messages: [] }, [], {}],

    [
      "the start of a turn waits until it is known what is sent",
      noTranslation,
      { type: "turn_start" },
      [],
      { turn: "due" },
    ],
    [
      "the next turn tells the end of the last one first",
      betweenTurns,
      { type: "turn_start" },
      [{ type: "turn_end", turnId: "turn-2", hasToolCalls: true, shouldContinue: true }],
      { turn: "due", endedTurn: undefined },
    ],
    [
      "a turn that is repeated goes on, with neither an end nor a start",
      { ...betweenTurns, turn: "repeated" },
      { type: "turn_start" },
      [],
      { turn: "open", endedTurn: undefined },
    ],
    [
      "the start of a turn is told before an answer for which no request was made",
      { ...noTranslation, turn: "due" },
      { type: "message_start", message: answer() },
      [
        { type: "turn_start", turnId: "id-1", turnIndex: 0, messageCount: 4 },
        { type: "message_start", messageId: "id-1", role: "assistant", model: "acme/m1", usage: { inputTokens: 99 } },
      ],
      { turn: "open", turnId: "id-1", turns: 1, messageId: "id-1" },
    ],
    [
      "the end of a turn with calls waits until it is known whether the run continues",
      busy,
      { type: "turn_end", message: partial, toolResults: [] },
      [],
      { endedTurn: { turnId: "turn-2", hasToolCalls: true }, callStarts: new Map() },
    ],
    [
      "the end of a turn without calls waits too",
      busy,
      { type: "turn_end", message: answer([text("Done.")]), toolResults: [] },
      [],
      { endedTurn: { turnId: "turn-2", hasToolCalls: false }, callStarts: new Map() },
    ],

    ["a user message is not told: its entry is", busy, { type: "message_start", message: user }, [], {}],
    ["the end of a user message is not told", busy, { type: "message_end", message: user }, [], {}],
    ["a result is not told as a message", busy, { type: "message_start", message: toolResult }, [], {}],
    ["the end of a result is not told as a message", busy, { type: "message_end", message: toolResult }, [], {}],

    [
      "an answer begins with a new id, the estimate of its input, and deltas at 0 again",
      busy,
      { type: "message_start", message: answer() },
      [{ type: "message_start", messageId: "id-1", role: "assistant", model: "acme/m1", usage: { inputTokens: 99 } }],
      { messageId: "id-1", textLength: 0, thinkingLength: 0 },
    ],
    [
      "an answer begins with what the provider has counted, where it has",
      busy,
      { type: "message_start", message: answer([], { usage }) },
      [{ type: "message_start", messageId: "id-1", role: "assistant", model: "acme/m1", usage: { inputTokens: 15 } }],
      { messageId: "id-1", textLength: 0, thinkingLength: 0 },
    ],

    [
      "text has the index where it begins, in UTF-16 units",
      busy,
      update({ type: "text_delta", contentIndex: 0, delta: "👋 all", partial }),
      [{ type: "text_delta", messageId: "message-2", delta: "👋 all", index: 7 }],
      { textLength: 13 },
    ],
    [
      "thoughts are counted by themselves",
      busy,
      update({ type: "thinking_delta", contentIndex: 0, delta: "Hm.", partial }),
      [{ type: "thinking_delta", messageId: "message-2", delta: "Hm.", index: 3 }],
      { thinkingLength: 6 },
    ],
    [
      "a call begins with its name and no arguments",
      busy,
      update({ type: "toolcall_start", contentIndex: 1, partial }),
      [{ type: "toolcall_delta", messageId: "message-2", toolCallId: "c1", toolName: "look", delta: "" }],
      {},
    ],
    [
      "the arguments of a call follow without the name",
      busy,
      update({ type: "toolcall_delta", contentIndex: 1, delta: '{"at"', partial }),
      [{ type: "toolcall_delta", messageId: "message-2", toolCallId: "c1", delta: '{"at"' }],
      {},
    ],
    [
      "arguments of a block that is no call are not told",
      busy,
      update({ type: "toolcall_delta", contentIndex: 0, delta: "{", partial }),
      [],
      {},
    ],
    [
      "arguments of a block that is not there are not told",
      busy,
      update({ type: "toolcall_start", contentIndex: 9, partial }),
      [],
      {},
    ],
    ["the start of a stream is not told", busy, update({ type: "start", partial }), [], {}],
    ["the start of a text is not told", busy, update({ type: "text_start", contentIndex: 0, partial }), [], {}],
    [
      "the end of a text is not told",
      busy,
      update({ type: "text_end", contentIndex: 0, content: "Looking.", partial }),
      [],
      {},
    ],
    ["the start of thoughts is not told", busy, update({ type: "thinking_start", contentIndex: 0, partial }), [], {}],
    [
      "the end of thoughts is not told",
      busy,
      update({ type: "thinking_end", contentIndex: 0, content: "Hm.", partial }),
      [],
      {},
    ],
    [
      "the end of a call is not told",
      busy,
      update({ type: "toolcall_end", contentIndex: 1, toolCall: call("look", {}, "c1"), partial }),
      [],
      {},
    ],

    [
      "a call that starts is told with its input and its answer",
      busy,
      { type: "tool_execution_start", toolCallId: "c2", toolName: "look", args: { at: "the wall" } },
      [
        {
          type: "tool_execution_start",
          toolCallId: "c2",
          toolName: "look",
          input: { at: "the wall" },
          messageId: "message-2",
        },
      ],
      {
        callStarts: new Map([
          ["c1", 1_000],
          ["c2", 1_500],
        ]),
      },
    ],
    [
      "arguments that are no object are told as none",
      noTranslation,
      { type: "tool_execution_start", toolCallId: "c1", toolName: "look", args: "all" },
      [{ type: "tool_execution_start", toolCallId: "c1", toolName: "look", input: {}, messageId: "" }],
      { callStarts: new Map([["c1", 1_500]]) },
    ],
    [
      "an update is a partial result unless it says otherwise",
      busy,
      {
        type: "tool_execution_update",
        toolCallId: "c1",
        toolName: "look",
        args: {},
        partialResult: { content: [text("half"), { type: "image", data: "", mimeType: "image/png" }] },
      },
      [
        {
          type: "tool_execution_update",
          toolCallId: "c1",
          updateType: "partial-result",
          content: "half\n[image image/png]",
        },
      ],
      {},
    ],
    [
      "an update keeps its kind and its progress",
      busy,
      {
        type: "tool_execution_update",
        toolCallId: "c1",
        toolName: "look",
        args: {},
        partialResult: { content: [text("half")], updateType: "progress", progressPercent: 50 },
      },
      [
        {
          type: "tool_execution_update",
          toolCallId: "c1",
          updateType: "progress",
          content: "half",
          progressPercent: 50,
        },
      ],
      {},
    ],
    [
      "a call that succeeds has its output and how long it took",
      busy,
      {
        type: "tool_execution_end",
        toolCallId: "c1",
        toolName: "look",
        result: { content: [text("a wall")] },
        isError: false,
      },
      [{ type: "tool_execution_end", toolCallId: "c1", success: true, output: "a wall", durationMs: 500 }],
      {},
    ],
    [
      "a call that fails says why",
      busy,
      {
        type: "tool_execution_end",
        toolCallId: "c1",
        toolName: "look",
        result: { content: [text("no")] },
        isError: true,
      },
      [
        {
          type: "tool_execution_end",
          toolCallId: "c1",
          success: false,
          output: "no",
          durationMs: 500,
          error: { code: "tool_failed", message: "no" },
        },
      ],
      {},
    ],
    [
      "a call whose start is not known took no time",
      busy,
      { type: "tool_execution_end", toolCallId: "c9", toolName: "look", result: { content: [] }, isError: false },
      [{ type: "tool_execution_end", toolCallId: "c9", success: true, output: "", durationMs: 0 }],
      {},
    ],
  ])("%s", (_law, before, event, events, changes) => {
    const held = structuredClone(before);
    expect(translate(before, event, context)).toEqual([{ ...before, ...changes }, events]);
    expect(before).toEqual(held);
  });
});

describe("the end of an answer", () => {
  const end = (message: AssistantMessage) => translate(busy, { type: "message_end", message }, context)[1];
  const noUsage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

  test.each<[StopReason, rawStopReason: string | undefined, WireStopReason]>([
    ["stop", undefined, "end_turn"],
    ["stop", "end_turn", "end_turn"],
    ["stop", "stop_sequence", "stop_sequence"],
    ["length", undefined, "max_tokens"],
    ["length", "stop_sequence", "max_tokens"],
    ["toolUse", undefined, "tool_use"],
    ["error", undefined, "error"],
    ["aborted", undefined, "aborted"],
  ])("%s, which the provider called %s, is told as %s", (stopReason, rawStopReason, told) => {
    const message = answer([], { stopReason, ...(rawStopReason !== undefined && { rawStopReason }) });
    expect(end(message)).toEqual([{ type: "message_end", messageId: "message-2", stopReason: told, usage: noUsage }]);
  });

  test("counts cached tokens as input, and thoughts where the provider counts them", () => {
    const told = { inputTokens: 15, outputTokens: 5, cacheReadTokens: 3, cacheWriteTokens: 2 };
    expect(end(answer([], { usage }))).toMatchObject([{ usage: told }]);
    const [counted] = end(answer([], { usage: { ...usage, reasoning: 4 } }));
    expect(counted).toMatchObject({ usage: { ...told, thinkingTokens: 4 } });
  });

  test.each<[law: string, content: AssistantMessage["content"], silent: true | undefined]>([
    ["says nothing", [text("HEARTBEAT_OK")], true],
    ["thinks and says nothing", [thinking("All is well."), text("__SILENT__")], true],
    ["says something", [text("Hello.")], undefined],
    ["says nothing but calls a tool", [text("__SILENT__"), call("look")], undefined],
  ])("is silent only when it says nothing: one that %s", (_law, content, silent) => {
    const [told] = end(answer(content));
    expect(told && "silent" in told ? told.silent : undefined).toBe(silent);
  });
});

describe("the end of a turn", () => {
  test.each<[RunEnd | undefined, object]>([
    [undefined, { shouldContinue: true }],
    [{ kind: "done" }, { shouldContinue: false, terminationReason: "no_tool_calls" }],
    [{ kind: "timeout" }, { shouldContinue: false, terminationReason: "timeout_48h" }],
    [
      { kind: "aborted", by: "person", reason: "steered" },
      { shouldContinue: false, terminationReason: "abort_signal" },
    ],
    [
      { kind: "failed", cause: "log", failure: { kind: "unknown", message: "No space left on device." } },
      { shouldContinue: false, terminationReason: "error" },
    ],
  ])("when the run ends with %j", (runEnd, told) => {
    const [after, events] = endTurn(betweenTurns, runEnd);
    expect(events).toEqual([{ type: "turn_end", turnId: "turn-2", hasToolCalls: true, ...told }]);
    expect(after).toEqual({ ...busy, turn: "over" });
  });

  test.each<RunEnd | undefined>([undefined, { kind: "done" }])(
    "is not told twice, nor for a turn that never was: %j",
    (runEnd) => {
      expect(endTurn(busy, runEnd)).toEqual([busy, []]);
      expect(endTurn(noTranslation, runEnd)).toEqual([noTranslation, []]);
    },
  );
});

/** A drawn turn: what comes before the answer, how the answer arrives, and how its calls run side by side. */
interface DrawnTurn {
  users: number;
  isStreamed: boolean;
  deltas: { kind: "text" | "thinking"; delta: string }[];
  /** Calls may share an id. */
  calls: string[];
  /** In which order the calls end. */
  order: number[];
}

const drawnTurn: fc.Arbitrary<DrawnTurn> = fc.record({
  users: fc.nat(2),
  isStreamed: fc.boolean(),
  deltas: fc.array(
    fc.record({ kind: fc.constantFrom("text" as const, "thinking" as const), delta: fc.string({ unit: "binary" }) }),
    { maxLength: 6 },
  ),
  calls: fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 4 }),
  order: fc.array(fc.nat(), { minLength: 4, maxLength: 4 }),
});

/** Each list is one run of the engine; all together are one run of the session. */
const drawnRun = fc.array(fc.array(drawnTurn, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 3 });

/** The events of the engine for a turn, in an order that its contract allows. */
function* playTurn(turn: DrawnTurn): Generator<AgentEvent> {
  const message = answer(turn.calls.map((id) => call("look", {}, id)));
  yield { type: "turn_start" };
  for (let count = 0; count < turn.users; count++) {
    yield { type: "message_start", message: user };
    yield { type: "message_end", message: user };
  }
  yield { type: "message_start", message };
  for (const { kind, delta } of turn.isStreamed ? turn.deltas : []) {
    yield update({ type: `${kind}_delta`, contentIndex: 0, delta, partial: message });
  }
  yield { type: "message_end", message };
  for (const toolCallId of turn.calls) yield { type: "tool_execution_start", toolCallId, toolName: "look", args: {} };
  const running = [...turn.calls];
  for (const drawn of turn.order.slice(0, running.length)) {
    const [toolCallId] = running.splice(drawn % running.length, 1) as [string];
    const result = { content: [text(toolCallId)] };
    yield { type: "tool_execution_update", toolCallId, toolName: "look", args: {}, partialResult: result };
    yield { type: "tool_execution_end", toolCallId, toolName: "look", result, isError: false };
  }
  yield* turn.calls.flatMap(() => [
    { type: "message_start", message: toolResult } as const,
    { type: "message_end", message: toolResult } as const,
  ]);
  yield { type: "turn_end", message, toolResults: [] };
}

/** Translates a run into the events of the session. */
function tell(run: readonly DrawnTurn[][]): SessionEvent[] {
  const events: SessionEvent[] = [];
  let state = noTranslation;
  let lastId = 0;
  const take = ([next, told]: ReturnType<typeof translate>) => {
    state = next;
    events.push(...told);
  };
  const record = (event: AgentEvent) => take(translate(state, event, { ...context, newId: () => `id-${++lastId}` }));
  for (const [index, turns] of run.entries()) {
    record({ type: "agent_start" });
    for (const turn of turns) for (const event of playTurn(turn)) record(event);
    record({ type: "agent_end", messages: [] });
    take(endTurn(state, index === run.length - 1 ? { kind: "done" } : undefined));
  }
  return events;
}

const getKey = (event: SessionEvent): string | undefined => {
  switch (event.type) {
    case "turn_start":
    case "turn_end":
      return `turn ${event.turnId}`;
    case "message_start":
    case "message_end":
      return `message ${event.messageId}`;
    case "tool_execution_start":
    case "tool_execution_end":
      return `call ${event.toolCallId}`;
    default:
      return undefined;
  }
};

describe("for any run of the engine", () => {
  test("every start has exactly one end, after it and before the next turn", () => {
    fc.assert(
      fc.property(drawnRun, (run) => {
        const open = new Map<string, number>();
        for (const event of tell(run)) {
          const key = getKey(event);
          if (event.type === "turn_start") expect([...open.values()].every((count) => count === 0)).toBe(true);
          if (key === undefined) continue;
          const count = (open.get(key) ?? 0) + (event.type.endsWith("_start") ? 1 : -1);
          // Only calls may share an id.
          expect(count).toBeGreaterThanOrEqual(0);
          expect(count).toBeLessThanOrEqual(key.startsWith("call") ? 4 : 1);
          open.set(key, count);
        }
        expect([...open].filter(([, count]) => count !== 0)).toEqual([]);
      }),
    );
  });

  test("turns count up through all runs of the engine, and only the last says that it is the last", () => {
    fc.assert(
      fc.property(drawnRun, (run) => {
        const events = tell(run);
        const total = run.flat().length;
        const starts = events.flatMap((event) => (event.type === "turn_start" ? [event.turnIndex] : []));
        expect(starts).toEqual(Array.from({ length: total }, (_unused, index) => index));
        const continues = events.flatMap((event) => (event.type === "turn_end" ? [event.shouldContinue] : []));
        expect(continues).toEqual(Array.from({ length: total }, (_unused, index) => index < total - 1));
      }),
    );
  });

  test("deltas put together by their index give the text and the thoughts of each answer", () => {
    fc.assert(
      fc.property(drawnRun, (run) => {
        const texts = new Map<string, Record<"text" | "thinking", string>>();
        for (const event of tell(run)) {
          if (event.type === "message_start") texts.set(event.messageId, { text: "", thinking: "" });
          if (event.type !== "text_delta" && event.type !== "thinking_delta") continue;
          const kind = event.type === "text_delta" ? "text" : "thinking";
          const soFar = texts.get(event.messageId)!;
          expect(event.index).toBe(soFar[kind].length);
          soFar[kind] += event.delta;
        }
        const join = ({ isStreamed, deltas }: DrawnTurn, kind: "text" | "thinking") =>
          isStreamed ? deltas.map((delta) => (delta.kind === kind ? delta.delta : "")).join("") : "";
        expect([...texts.values()]).toEqual(
          run.flat().map((turn) => ({ text: join(turn, "text"), thinking: join(turn, "thinking") })),
        );
      }),
    );
  });

  test("every event is plain JSON", () => {
    fc.assert(
      fc.property(drawnRun, (run) => {
        const events = tell(run);
        expect(JSON.parse(JSON.stringify(events))).toEqual(events);
      }),
    );
  });
});
