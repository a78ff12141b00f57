import type { SessionEvent } from "@tau/protocol";
import { expect, test } from "vitest";
import { PiEvents } from "./pi-events.ts";

const start = { type: "agent_start" } as const;
const end = { type: "agent_end", messages: [] } as const;
const ended = (terminationReason: "no_tool_calls" | "abort_signal"): SessionEvent => ({
  type: "agent_end",
  sessionId: "s",
  totalTurns: 1,
  totalTokens: 1,
  durationMs: 1,
  terminationReason,
});

function recordTypes(send: (events: PiEvents) => void): string[] {
  const types: string[] = [];
  send(new PiEvents(({ type, aborted }) => types.push(aborted === true ? `${type} aborted` : type), "off"));
  return types;
}

test("the end of a run is sent once, when the session accepts prompts again", () => {
  const before = recordTypes((events) => {
    events.handle(start);
    events.handle({ ...end, messages: [] });
    events.handleSessionEvent(ended("no_tool_calls"));
  });
  expect(before).toEqual(["agent_start"]);
  const after = recordTypes((events) => {
    events.handle(start);
    events.handle({ ...end, messages: [] });
    events.handleSessionEvent(ended("abort_signal"));
    events.settle();
    events.settle();
  });
  expect(after).toEqual(["agent_start", "agent_end", "agent_settled aborted"]);
});

test("each run of a queue has an end, and only the last one is settled", () => {
  const types = recordTypes((events) => {
    for (const reason of ["no_tool_calls", "no_tool_calls"] as const) {
      events.handle(start);
      events.handle({ ...end, messages: [] });
      events.handleSessionEvent(ended(reason));
    }
    events.settle();
  });
  expect(types).toEqual(["agent_start", "agent_end", "agent_start", "agent_end", "agent_settled"]);
});

test("a retry without an answer ends with the reason", () => {
  const records: object[] = [];
  const events = new PiEvents((record) => records.push(record), "off");
  events.handle({ type: "retry_scheduled", attempt: 2, maxAttempts: 2, delayMs: 1, reason: "overloaded" });
  events.handleSessionEvent({ type: "error", code: "overloaded", message: "Too many.", recoverable: true });
  events.handleSessionEvent(ended("no_tool_calls"));
  expect(records.at(-1)).toEqual({ type: "auto_retry_end", success: false, attempt: 2, finalError: "Too many." });
});

test("a compaction is sent with its result", () => {
  const records: object[] = [];
  const events = new PiEvents((record) => records.push(record), "off");
  const entry = { type: "compaction", id: "c", parentId: null, timestamp: "", summary: "All." } as const;
  const outcome = { kind: "compacted", entryId: "c", tokensBefore: 9, tokensAfter: 2 } as const;
  events.handle({ type: "compaction_start", reason: "threshold" });
  events.handle({ type: "entry_appended", entry: { ...entry, tokensBefore: 9, firstKeptEntryId: "b" } });
  events.handle({ type: "compaction_end", reason: "threshold", outcome });
  expect(records).toMatchObject([
    { type: "compaction_start", reason: "threshold" },
    { type: "compaction_end", result: { summary: "All.", tokensBefore: 9, estimatedTokensAfter: 2 } },
  ]);
});

test("a message of an extension has its events also if there is no run", () => {
  const entry = {
    type: "custom_message",
    id: "1",
    parentId: null,
    timestamp: "1970-01-01T00:00:01.000Z",
    customType: "note",
    content: "Hello",
    display: true,
  } as const;
  const append = (events: PiEvents) => events.handle({ type: "entry_appended", entry });
  expect(recordTypes(append)).toEqual(["message_start", "message_end"]);
  const during = recordTypes((events) => {
    events.handle(start);
    append(events);
  });
  expect(during).toEqual(["agent_start"]);
});
