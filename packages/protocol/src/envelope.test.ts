import { describe, expect, test } from "vitest";
import { type EventEnvelope, type EventPosition, unwrapEvent, wrapEvent } from "./envelope.ts";
import type { SessionEvent } from "./event.ts";

const position: EventPosition = { seq: 7, epoch: "e1", stateVersion: 12 };

type Row<Type extends SessionEvent["type"]> = [wireName: string, event: SessionEvent & { type: Type }];

/** Has an event of each kind with all its fields: a kind that is added to `SessionEvent` does not compile without a row. */
const table: { [Type in SessionEvent["type"]]: Row<Type> } = {
  agent_start: [
    "session.status.changed",
    {
      type: "agent_start",
      sessionId: "s1",
      model: "p/m",
      tools: ["read"],
      thinkingLevel: "low",
      resumedFrom: "s0",
      timestamp: 1,
    },
  ],
  agent_end: [
    "session.status.changed",
    {
      type: "agent_end",
      sessionId: "s1",
      totalTurns: 1,
      totalTokens: 2,
      durationMs: 3,
      terminationReason: "error",
      detail: "auth",
    },
  ],
  turn_start: ["session.turn.started", { type: "turn_start", turnId: "t", turnIndex: 0, messageCount: 1 }],
  turn_end: [
    "session.turn.ended",
    { type: "turn_end", turnId: "t", hasToolCalls: true, shouldContinue: false, terminationReason: "no_tool_calls" },
  ],
  message_start: [
    "session.message.started",
    { type: "message_start", messageId: "m", role: "assistant", model: "p/m", usage: { inputTokens: 1 } },
  ],
  message_end: [
    "session.message.ended",
    {
      type: "message_end",
      messageId: "m",
      stopReason: "end_turn",
      usage: { inputTokens: 1, outputTokens: 2, thinkingTokens: 3, cacheReadTokens: 4, cacheWriteTokens: 5 },
      silent: true,
    },
  ],
  text_delta: ["session.message.delta", { type: "text_delta", messageId: "m", delta: "Hi", index: 3 }],
  thinking_delta: ["session.thinking.delta", { type: "thinking_delta", messageId: "m", delta: "Hm", index: 4 }],
  toolcall_delta: [
    "session.toolcall.delta",
    { type: "toolcall_delta", messageId: "m", toolCallId: "c", toolName: "read", delta: "{" },
  ],
  tool_execution_start: [
    "session.tool.started",
    {
      type: "tool_execution_start",
      toolCallId: "c",
      toolName: "read",
      input: { path: "a", status: "x" },
      messageId: "m",
    },
  ],
  tool_execution_update: [
    "session.tool.updated",
    { type: "tool_execution_update", toolCallId: "c", updateType: "progress", content: "half", progressPercent: 50 },
  ],
  tool_execution_end: [
    "session.tool.ended",
    {
      type: "tool_execution_end",
      toolCallId: "c",
      success: false,
      output: "no",
      durationMs: 5,
      error: { code: "tool_failed", message: "no" },
    },
  ],
  error: [
    "session.error",
    { type: "error", code: "auth", message: "The key is wrong.", context: { status: 401 }, recoverable: false },
  ],
  entry_appended: [
    "session.entry.appended",
    {
      type: "entry_appended",
      entry: {
        type: "message",
        id: "e",
        parentId: null,
        timestamp: "2026-01-01T00:00:00.000Z",
        message: { role: "user", content: "Hi", timestamp: 1 },
      },
    },
  ],
  session_branched: ["session.branched", { type: "session_branched", branchId: "s2", branchPoint: "e" }],
  compaction_start: ["session.compaction.started", { type: "compaction_start", reason: "manual" }],
  compaction_end: [
    "session.compaction.ended",
    {
      type: "compaction_end",
      reason: "overflow",
      outcome: { kind: "compacted", entryId: "e", tokensBefore: 9, tokensAfter: 4 },
    },
  ],
  tool_denied: [
    "session.tool.denied",
    {
      type: "tool_denied",
      toolCallId: "c",
      toolName: "bash",
      rule: "deny bash",
      reason: "it is denied",
      by: "policy",
      advice: "Allow it.",
    },
  ],
  model_changed: [
    "session.model.changed",
    { type: "model_changed", provider: "p", modelId: "m", thinkingLevel: "high" },
  ],
  model_used: [
    "session.model.used",
    {
      type: "model_used",
      provider: "p",
      modelId: "m",
      thinkingLevel: "high",
      key: "…abcd",
      cause: "fallback",
      reason: "q/n has reached a rate limit.",
    },
  ],
  queue_changed: [
    "session.queue.changed",
    {
      type: "queue_changed",
      steering: [{ id: "q1", content: "Stop." }],
      followUps: [{ id: "q2", content: [{ type: "text", text: "And then?" }] }],
    },
  ],
  approval_requested: [
    "session.approval.requested",
    {
      type: "approval_requested",
      approval: {
        id: "a",
        toolCallId: "c",
        toolName: "bash",
        summary: "Run rm.",
        reason: "the mode is prompt",
        commands: [["rm", "-r", "x"]],
        path: "/project/x",
        host: "example.org",
        expiresAt: 5,
        choices: [
          { choice: "once", label: "Yes, this once" },
          { choice: "session", rule: "bash(rm *)", label: "Yes, for this session" },
        ],
      },
    },
  ],
  approval_resolved: [
    "session.approval.resolved",
    { type: "approval_resolved", approvalId: "a", decision: "denied", by: "person" },
  ],
  retry_scheduled: [
    "session.retry.scheduled",
    { type: "retry_scheduled", attempt: 1, maxAttempts: 3, delayMs: 2_000, reason: "Busy." },
  ],
  cache_break: [
    "session.cache.broken",
    { type: "cache_break", segment: "tools.bash", reason: "The tool has changed.", tokens: 1_000 },
  ],
  jobs_changed: [
    "session.jobs.changed",
    { type: "jobs_changed", running: [{ id: "1", command: "npm run dev", startedAt: 5 }] },
  ],
  permission_mode_changed: ["session.permissions.changed", { type: "permission_mode_changed", mode: "ask" }],
  notice: ["session.notice", { type: "notice", code: "answer_cut", message: "The answer reached its length limit." }],
};

const rows = Object.values(table).map(([wireName, event]: Row<SessionEvent["type"]>) => ({
  type: event.type,
  wireName,
  event,
}));

describe("an event in an envelope", () => {
  test.each(rows)("has its name $wireName, its session and its position: $type", ({ wireName, event }) => {
    const { payload, ...envelope } = wrapEvent(event, "s1", position);
    expect(envelope).toEqual({ type: "event", event: wireName, ...position });
    expect(payload).toMatchObject({ sessionId: "s1", eventType: event.type });
  });

  test.each(rows)("is the same after it crossed a wire: $type", ({ event }) => {
    const sent = JSON.stringify(wrapEvent(event, "s1", position));
    expect(unwrapEvent(JSON.parse(sent) as EventEnvelope)).toEqual(event);
  });

  test.each(rows)("is not changed by being put into it: $type", ({ event }) => {
    const before = structuredClone(event);
    wrapEvent(event, "s1", position);
    expect(event).toEqual(before);
  });

  test.each(rows)("says whether the session runs only where that changes: $type", ({ event }) => {
    const status = { agent_start: "running", agent_end: "idle" }[event.type as string];
    expect(wrapEvent(event, "s1", position).payload["status"]).toBe(status);
  });
});

test("the start and the end of a run share one name, and every other kind has its own", () => {
  const names = rows.map(({ wireName }) => wireName);
  expect(new Set(names).size).toBe(names.length - 1);
});

test.each([{}, { eventType: 3 }, { eventType: null }, { eventType: "from_the_future" }, { eventType: "toString" }])(
  "a payload that this version does not know is no event: %j",
  (payload) => {
    const envelope: EventEnvelope = { type: "event", event: "session.notice", payload, ...position };
    expect(unwrapEvent(envelope)).toBeUndefined();
  },
);
