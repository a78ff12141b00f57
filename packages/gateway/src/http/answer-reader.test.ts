import type { SessionEvent } from "@tau/protocol";
import { expect, test } from "vitest";
import { AnswerReader } from "./answer-reader.ts";

const said = (queueId: string) =>
  ({ type: "entry_appended", entry: { type: "message", queueId, message: { role: "user" } } }) as SessionEvent;
const begin = { type: "message_start" } as SessionEvent;
const delta = (text: string) => ({ type: "text_delta", delta: text }) as SessionEvent;
const end = (stopReason: string) =>
  ({ type: "message_end", stopReason, usage: { inputTokens: 2, outputTokens: 1 } }) as SessionEvent;
const done = (terminationReason = "no_tool_calls", detail?: string) =>
  ({ type: "agent_end", terminationReason, detail }) as SessionEvent;

function read(...events: SessionEvent[]) {
  const reader = new AnswerReader("mine");
  const steps = events.map((event) => reader.take(event)).filter(({ kind }) => kind !== "nothing");
  return { text: reader.text, tokens: reader.usage.total_tokens, last: steps.at(-1) };
}

const stop = { kind: "done", finishReason: "stop" };

test.each<[string, SessionEvent[], object]>([
  [
    "what belongs to earlier messages does not count",
    [
      said("other"),
      begin,
      delta("Theirs."),
      end("end_turn"),
      said("mine"),
      begin,
      delta("Ours."),
      end("end_turn"),
      done(),
    ],
    { text: "Ours.", tokens: 3, last: stop },
  ],
  [
    "the next message of the queue ends the answer",
    [said("mine"), begin, delta("Ours."), end("end_turn"), said("other")],
    { text: "Ours.", last: stop },
  ],
  [
    "a message that steers the run does not",
    [
      said("mine"),
      begin,
      delta("I look."),
      end("tool_use"),
      said("other"),
      begin,
      delta("Found."),
      end("end_turn"),
      done(),
    ],
    { text: "I look.\n\nFound.", last: stop },
  ],
  [
    "an answer that was cut and asked for again is in it once",
    [said("mine"), begin, delta("It be"), end("error"), begin, delta("It begins."), end("end_turn"), done()],
    { text: "It begins.", tokens: 6, last: stop },
  ],
  [
    "an answer at its limit says so",
    [said("mine"), begin, delta("Long"), end("max_tokens"), done("no_tool_calls", "length")],
    { last: { kind: "done", finishReason: "length" } },
  ],
  [
    "a run that was ended has none",
    [said("mine"), begin, done("abort_signal")],
    { last: { kind: "failed", code: "aborted" } },
  ],
  [
    "a message that was taken back has none",
    [{ type: "entry_appended", entry: { type: "queue", queueId: "mine", state: "cancelled" } } as SessionEvent],
    { last: { kind: "failed", code: "aborted" } },
  ],
])("%s", (_name, events, expected) => {
  expect(read(...events)).toMatchObject(expected);
});
