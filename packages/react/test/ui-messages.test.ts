import { emptyUsage } from "@tau/ai";
import {
  reduce,
  type SessionEntry,
  type SessionEvent,
  type SessionMessage,
  type View,
  viewFromEntries,
} from "@tau/protocol";
import { expect, test } from "vitest";
import { toUIMessages } from "../src/ui-messages.ts";

let previous: string | null = null;
let created = 0;
const entry = (fields: object): SessionEntry => {
  const id = `e${++created}`;
  const made = { id, parentId: previous, timestamp: "2026-11-18T00:00:00.000Z", ...fields } as SessionEntry;
  previous = id;
  return made;
};
const message = (fields: object): SessionEntry =>
  entry({ type: "message", message: { timestamp: 0, ...fields } as SessionMessage });
const user = (content: unknown) => message({ role: "user", content });
const assistant = (content: unknown[], fields: object = {}) =>
  message({
    role: "assistant",
    content,
    api: "a",
    provider: "p",
    model: "m",
    usage: emptyUsage(),
    stopReason: "stop",
    ...fields,
  });
const result = (toolCallId: string, text: string, isError = false) =>
  message({ role: "toolResult", toolCallId, toolName: "ls", content: [{ type: "text", text }], isError });
const call = (id: string) => ({ type: "toolCall", id, name: "ls", arguments: { path: id } });
const begin = (...entries: (() => SessionEntry)[]): View => {
  previous = null;
  created = 0;
  return viewFromEntries(entries.map((make) => make()));
};
const reduceAll = (view: View, events: object[]): View =>
  events.reduce<View>((before, event) => reduce(before, event as SessionEvent), view);

test("the answers of a run and the results of their calls are one message", () => {
  const view = begin(
    () =>
      user([
        { type: "text", text: "Look." },
        { type: "image", mimeType: "image/png", data: "AAAA" },
      ]),
    () => assistant([{ type: "thinking", thinking: "Hm." }, { type: "text", text: "So." }, call("a"), call("b")]),
    () => result("a", "a.txt"),
    () => result("b", "denied", true),
    () => entry({ type: "label", targetId: "e1", label: "x" }),
    () => assistant([{ type: "text", text: "Done." }]),
  );
  expect(toUIMessages(view)).toEqual([
    {
      id: "e1",
      role: "user",
      parts: [
        { type: "text", text: "Look." },
        { type: "file", mediaType: "image/png", url: "data:image/png;base64,AAAA" },
      ],
    },
    {
      id: "e1-answer",
      role: "assistant",
      metadata: { model: "m" },
      parts: [
        { type: "step-start" },
        { type: "reasoning", text: "Hm.", state: "done" },
        { type: "text", text: "So.", state: "done" },
        {
          type: "dynamic-tool",
          toolName: "ls",
          toolCallId: "a",
          state: "output-available",
          input: { path: "a" },
          output: "a.txt",
        },
        {
          type: "dynamic-tool",
          toolName: "ls",
          toolCallId: "b",
          state: "output-error",
          input: { path: "b" },
          errorText: "denied",
        },
        { type: "step-start" },
        { type: "text", text: "Done.", state: "done" },
      ],
    },
  ]);
});

test("an answer that was asked for again, a silent one and what nobody shows are left out, and why one ended stays", () => {
  const view = begin(
    () => user("Hi"),
    () => assistant([{ type: "text", text: "I was" }], { stopReason: "error", errorMessage: "Busy." }),
    () => entry({ type: "context_edit", targetId: "e2", replacement: null }),
    () => assistant([{ type: "text", text: "No" }], { stopReason: "error", errorMessage: "Gone." }),
    () => entry({ type: "custom_message", customType: "x", content: "hidden", display: false }),
    () => entry({ type: "custom_message", customType: "x", content: "shown", display: true }),
    () => entry({ type: "compaction", summary: "All so far.", firstKeptEntryId: "e1", tokensBefore: 1 }),
  );
  expect(toUIMessages(view).map(({ role, parts, metadata }) => [role, parts.at(-1), metadata?.error])).toEqual([
    ["user", { type: "text", text: "Hi" }, undefined],
    ["assistant", { type: "text", text: "No", state: "done" }, "Gone."],
    ["system", { type: "text", text: "shown" }, undefined],
    ["system", { type: "text", text: "All so far." }, undefined],
  ]);
});

test("an answer has its id while it arrives, its calls are asked about, and finished messages stay the same objects", () => {
  const before = begin(
    () => user("Hi"),
    () => assistant([{ type: "text", text: "Hello." }]),
    () => user("Look."),
  );
  const old = toUIMessages(before);
  const arriving = reduceAll(before, [
    { type: "agent_start", model: "m" },
    { type: "message_start", messageId: "m1", role: "assistant", model: "m" },
    { type: "thinking_delta", messageId: "m1", delta: "Hm", index: 0 },
    { type: "text_delta", messageId: "m1", delta: "I ", index: 0 },
  ]);
  const [first, second, third, fourth] = toUIMessages(arriving);
  expect([first, second, third]).toEqual(old);
  expect([first === old[0], second === old[1], third === old[2]]).toEqual([true, true, true]);
  expect(fourth).toEqual({
    id: "e3-answer",
    role: "assistant",
    parts: [
      { type: "step-start" },
      { type: "reasoning", text: "Hm", state: "done" },
      { type: "text", text: "I ", state: "streaming" },
    ],
  });
  const calling = reduceAll(arriving, [
    { type: "toolcall_delta", messageId: "m1", toolCallId: "a", toolName: "ls", delta: "{" },
  ]);
  expect(toUIMessages(calling).at(-1)?.parts.at(-1)).toMatchObject({ toolCallId: "a", state: "input-streaming" });
  const asked = reduceAll(calling, [
    { type: "entry_appended", entry: assistant([{ type: "text", text: "I look." }, call("a")]) },
    { type: "message_end", messageId: "m1" },
    { type: "approval_requested", approval: { id: "q1", toolCallId: "a" } },
  ]);
  const last = toUIMessages(asked).at(-1);
  expect([last?.id, last?.parts.at(-1)]).toMatchObject([
    "e3-answer",
    { state: "approval-requested", approval: { id: "q1" } },
  ]);
  const answered = reduceAll(asked, [
    { type: "approval_resolved", approvalId: "q1", decision: "allowed", by: "person" },
    { type: "entry_appended", entry: result("a", "a.txt") },
    { type: "agent_end", terminationReason: "no_tool_calls" },
  ]);
  const finished = toUIMessages(answered);
  expect(finished.at(-1)?.parts.at(-1)).toMatchObject({ state: "output-available", output: "a.txt" });
  expect(finished.at(-1)).toBe(toUIMessages(answered).at(-1));
});

test("an answer is shown once, whichever of its events has been drawn last", () => {
  let view = begin(() => user("Hi"));
  const events = [
    { type: "agent_start", model: "m" },
    { type: "message_start", messageId: "m1", role: "assistant", model: "m" },
    { type: "text_delta", messageId: "m1", delta: "Hello.", index: 0 },
    { type: "entry_appended", entry: assistant([{ type: "text", text: "Hello." }]) },
    { type: "message_end", messageId: "m1" },
    { type: "turn_end" },
    { type: "agent_end", terminationReason: "no_tool_calls" },
  ];
  const shown = events.map((event) => {
    view = reduce(view, event as SessionEvent);
    const answers = toUIMessages(view).filter(({ role }) => role === "assistant");
    return answers.flatMap(({ parts }) => parts.flatMap((part) => (part.type === "text" ? [part.text] : [])));
  });
  expect(shown).toEqual([[], [], ...Array.from({ length: 5 }, () => ["Hello."])]);
});
