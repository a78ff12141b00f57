import { call, scriptedModel, text } from "@tau/ai/testing";
import { AuthStorage, createAgentSession, SessionManager, SettingsManager } from "@tau/harness";
import type { SessionEvent } from "@tau/protocol";
import { expect, onTestFinished, test } from "vitest";
import { type BroadcastFrame, subscribeEmbeddedPiSession, translatePiEvent } from "../../src/index.ts";

/** The smallest gateway that a program may have. */
class Gateway {
  readonly sent: { sessionId: string; frame: BroadcastFrame }[] = [];
  #seq = 0;

  broadcastToSession(sessionId: string, frame: BroadcastFrame): void {
    this.sent.push({ sessionId, frame });
  }

  nextSeq(): number {
    return ++this.#seq;
  }

  currentStateVersion(): number {
    return 7;
  }
}

async function open(turns: Parameters<typeof scriptedModel>[0], key?: string) {
  const authStorage = AuthStorage.inMemory(key === undefined ? {} : { anthropic: { type: "api_key", key } });
  const session = await createAgentSession({
    model: scriptedModel(turns),
    authStorage,
    sessionManager: await SessionManager.inMemory("/tmp"),
    settingsManager: SettingsManager.inMemory({}),
    watch: false,
  });
  onTestFinished(() => session.dispose());
  if (key !== undefined) await authStorage.getApiKey("anthropic");
  return session;
}

test("a run is broadcast with the fields of each event, numbered by the gateway", async () => {
  const session = await open([[call("ls", { path: "/tmp" }, "call_1")], [text("Hello.")]]);
  const gateway = new Gateway();
  const stop = subscribeEmbeddedPiSession(session, gateway, "sess_1");
  await session.prompt("Say hello.");
  stop();
  const frames = gateway.sent.map(({ frame }) => frame);
  expect(gateway.sent.every(({ sessionId }) => sessionId === "sess_1")).toBe(true);
  expect(frames.map(({ seq }) => seq)).toEqual(frames.map((_frame, index) => index + 1));
  expect(frames.every(({ type, stateVersion }) => type === "event" && stateVersion === 7)).toBe(true);
  const find = (name: string) => frames.findLast(({ event }) => event === name)!.payload;
  expect(find("session.message.delta")).toMatchObject({ sessionId: "sess_1", delta: "Hello.", index: 0 });
  expect(find("session.message.delta")["messageId"]).toEqual(expect.any(String));
  expect(find("session.tool.started")).toMatchObject({
    sessionId: "sess_1",
    toolCallId: "call_1",
    toolName: "ls",
    input: { path: "/tmp" },
  });
  expect(find("session.status.changed")).toMatchObject({
    sessionId: "sess_1",
    status: "idle",
    terminationReason: "no_tool_calls",
  });
  const count = frames.length;
  session.notify("test", "after");
  expect(gateway.sent).toHaveLength(count);
});

test("keys that the session uses are removed, also from text that arrives in pieces", async () => {
  const key = "sk-secret-0123456789abcdef";
  const session = await open([[text(`The key is ${key}, as you know.`)]], key);
  const gateway = new Gateway();
  subscribeEmbeddedPiSession(session, gateway, "sess_1");
  await session.prompt(`Repeat ${key}.`);
  const all = JSON.stringify(gateway.sent);
  expect(all).toContain("as you know");
  expect(all).not.toContain(key);
  const deltas = gateway.sent.flatMap(({ frame }) =>
    frame.event === "session.message.delta" ? [String(frame.payload["delta"])] : [],
  );
  expect(deltas.join("")).not.toContain(key);
});

/** An event of each kind. */
const events: { [Type in SessionEvent["type"]]: [Omit<Extract<SessionEvent, { type: Type }>, "type">, string] } = {
  agent_start: [
    { sessionId: "s", model: "m", tools: [], thinkingLevel: "off", timestamp: 1 },
    "session.status.changed",
  ],
  agent_end: [
    { sessionId: "s", totalTurns: 1, totalTokens: 1, durationMs: 1, terminationReason: "abort_signal" },
    "session.status.changed",
  ],
  turn_start: [{ turnId: "t", turnIndex: 0, messageCount: 1 }, "session.turn.started"],
  turn_end: [{ turnId: "t", hasToolCalls: false, shouldContinue: false }, "session.turn.ended"],
  message_start: [
    { messageId: "m", role: "assistant", model: "m", usage: { inputTokens: 1 } },
    "session.message.started",
  ],
  message_end: [
    { messageId: "m", stopReason: "end_turn", usage: { inputTokens: 1, outputTokens: 1 } },
    "session.message.ended",
  ],
  text_delta: [{ messageId: "m", delta: "x", index: 0 }, "session.message.delta"],
  thinking_delta: [{ messageId: "m", delta: "x", index: 0 }, "session.thinking.delta"],
  toolcall_delta: [{ messageId: "m", toolCallId: "c", delta: "x" }, "session.toolcall.delta"],
  tool_execution_start: [{ toolCallId: "c", toolName: "ls", input: {}, messageId: "m" }, "session.tool.started"],
  tool_execution_update: [{ toolCallId: "c", updateType: "stdout", content: "x" }, "session.tool.updated"],
  tool_execution_end: [{ toolCallId: "c", success: true, output: "x", durationMs: 1 }, "session.tool.ended"],
  error: [{ code: "x", message: "x", recoverable: false }, "session.error"],
  entry_appended: [
    { entry: { type: "session_info", id: "e", parentId: null, timestamp: "t", name: "n" } },
    "session.entry.appended",
  ],
  session_branched: [{ branchId: "b", branchPoint: "e" }, "session.branched"],
  compaction_start: [{ reason: "manual" }, "session.compaction.started"],
  compaction_end: [{ reason: "manual", outcome: { kind: "aborted" } }, "session.compaction.ended"],
  tool_denied: [
    { toolCallId: "c", toolName: "ls", rule: "r", reason: "x", by: "policy", advice: "x" },
    "session.tool.denied",
  ],
  model_changed: [{ provider: "p", modelId: "m", thinkingLevel: "off" }, "session.model.changed"],
  model_used: [
    { provider: "p", modelId: "m", thinkingLevel: "off", cause: "fallback", reason: "x" },
    "session.model.used",
  ],
  queue_changed: [{ steering: [], followUps: [] }, "session.queue.changed"],
  approval_requested: [
    { approval: { id: "a", toolCallId: "c", toolName: "ls", summary: "x", reason: "x", choices: [] } },
    "session.approval.requested",
  ],
  approval_resolved: [{ approvalId: "a", decision: "denied", by: "person" }, "session.approval.resolved"],
  retry_scheduled: [{ attempt: 1, maxAttempts: 3, delayMs: 1, reason: "x" }, "session.retry.scheduled"],
  cache_break: [{ segment: "tools", reason: "x", tokens: 1 }, "session.cache.broken"],
  jobs_changed: [{ running: [] }, "session.jobs.changed"],
  permission_mode_changed: [{ mode: "ask" }, "session.permissions.changed"],
  notice: [{ code: "x", message: "x" }, "session.notice"],
};

test.each(Object.entries(events))("%s has a name, and its fields are in the payload", (type, [fields, name]) => {
  const event = { type, ...fields } as SessionEvent;
  expect(translatePiEvent(event, "sess_1")).toEqual({
    name,
    payload: expect.objectContaining({
      ...fields,
      eventType: type,
      sessionId: "sess_1",
    }) as unknown,
  });
});

test("an event that is not known is not broadcast", () => {
  expect(translatePiEvent({ type: "toString" } as never, "sess_1")).toBeNull();
  expect(translatePiEvent({ type: "message_update" } as never, "sess_1")).toBeNull();
});
