import type { SessionEntry, SessionEvent } from "@tau/protocol";
import { describe, expect, test } from "vitest";
import { replay } from "./replay.ts";
import type { SessionUpdate } from "./schema.generated.ts";
import type { FindTool } from "./tool-call.ts";
import { Updates, type UpdatesParts } from "./updates.ts";

const tools: Record<string, ReturnType<FindTool>> = {
  read: { label: "Read", shows: "excerpt", readOnly: true },
  edit: { label: "Edit", shows: "diff", readOnly: false },
  write: { label: "Write", shows: "file", readOnly: false },
  bash: { label: "Bash", shows: "command", readOnly: false },
  grep: { label: "Grep", shows: "matches", readOnly: true },
  todo: { label: "To-do list", readOnly: true },
  lsp: { label: "Language server", shows: "places", readOnly: true },
  debug: { label: "Debug", shows: "step", readOnly: false },
  eval: { label: "Evaluate", shows: "cell", readOnly: false },
};

const reported: string[] = [];
const parts: UpdatesParts = {
  cwd: "/w",
  findTool: (name) => tools[name],
  client: {},
  getContextWindow: () => 1_000,
  report: (message) => reported.push(message),
};

const mapAll = (events: readonly SessionEvent[], changed: Partial<UpdatesParts> = {}): SessionUpdate[] => {
  const updates = new Updates({ ...parts, ...changed });
  return events.flatMap((event) => updates.map(event));
};

const start = (toolName: string, input: Record<string, unknown>, toolCallId = "c"): SessionEvent => ({
  type: "tool_execution_start",
  toolCallId,
  toolName,
  input,
  messageId: "m",
});
const end = (output: string, success = true, toolCallId = "c"): SessionEvent => ({
  type: "tool_execution_end",
  toolCallId,
  success,
  output,
  durationMs: 1,
});
const announced = (toolName: string, toolCallId = "c"): SessionEvent => ({
  type: "toolcall_delta",
  messageId: "m",
  toolCallId,
  toolName,
  delta: "",
});
const base = { id: "e", parentId: null, timestamp: "2026-01-01T00:00:00.000Z" };
const toResult = (toolName: string, details: unknown, isError = false): SessionEntry => ({
  ...base,
  type: "message",
  message: {
    role: "toolResult",
    toolCallId: "c",
    toolName,
    content: [{ type: "text", text: "out" }],
    details,
    isError,
    timestamp: 0,
  },
});
const appended = (entry: SessionEntry): SessionEvent => ({ type: "entry_appended", entry });
const messageEnd = (stopReason: "end_turn" | "aborted" | "error"): SessionEvent => ({
  type: "message_end",
  messageId: "m",
  stopReason,
  usage: { inputTokens: 0, outputTokens: 0 },
});
const toText = (text: string) => ({ type: "content", content: { type: "text", text } });

describe("an event", () => {
  const rows: [name: string, event: SessionEvent, updates: unknown[]][] = [
    [
      "text",
      { type: "text_delta", messageId: "m", delta: "Hi", index: 0 },
      [{ sessionUpdate: "agent_message_chunk", messageId: "m", content: { type: "text", text: "Hi" } }],
    ],
    ["empty text", { type: "text_delta", messageId: "m", delta: "", index: 0 }, []],
    [
      "a thought",
      { type: "thinking_delta", messageId: "m", delta: "Hm", index: 0 },
      [{ sessionUpdate: "agent_thought_chunk", messageId: "m", content: { type: "text", text: "Hm" } }],
    ],
    [
      "the start of a call",
      announced("bash"),
      [
        {
          sessionUpdate: "tool_call",
          toolCallId: "c",
          name: "bash",
          title: "Bash",
          kind: "execute",
          status: "pending",
          rawInput: {},
        },
      ],
    ],
    [
      "a call that was not announced",
      start("read", { path: "src/a.ts", offset: 7 }),
      [
        {
          sessionUpdate: "tool_call",
          toolCallId: "c",
          name: "read",
          title: "Read src/a.ts",
          kind: "read",
          status: "in_progress",
          locations: [{ path: "/w/src/a.ts", line: 7 }],
          rawInput: { path: "src/a.ts", offset: 7 },
        },
      ],
    ],
    ["the end of a call that never began", end("x"), []],
    [
      "output of a call that never began",
      { type: "tool_execution_update", toolCallId: "c", updateType: "stdout", content: "x" },
      [],
    ],
    [
      "a mode",
      { type: "permission_mode_changed", mode: "free" },
      [{ sessionUpdate: "current_mode_update", currentModeId: "free" }],
    ],
    [
      "the use of the context",
      {
        ...messageEnd("end_turn"),
        usage: { inputTokens: 1, outputTokens: 2, cacheReadTokens: 4, cacheWriteTokens: 8 },
      } as SessionEvent,
      [{ sessionUpdate: "usage_update", used: 15, size: 1_000 }],
    ],
    ["a message that used nothing", messageEnd("end_turn"), []],
    [
      "a name",
      appended({ ...base, type: "session_info", name: "Work" }),
      [{ sessionUpdate: "session_info_update", title: "Work" }],
    ],
    [
      "a message that an extension shows",
      appended({ ...base, type: "custom_message", customType: "x", content: "Look.", display: true }),
      [{ sessionUpdate: "agent_message_chunk", messageId: "e", content: { type: "text", text: "Look." } }],
    ],
    [
      "a message that an extension hides",
      appended({ ...base, type: "custom_message", customType: "x", content: "Look.", display: false }),
      [],
    ],
    ["a notice, where the client shows none", { type: "notice", code: "x", message: "Careful." }, []],
    ["a compaction, where the client shows none", { type: "compaction_start", reason: "manual" }, []],
  ];
  test.each(rows)("%s", (_name, event, updates) => {
    expect(mapAll([event])).toEqual(updates);
  });
});

test("a notice that the client cannot show is reported", () => {
  reported.splice(0);
  mapAll([{ type: "notice", code: "x", message: "Careful." }]);
  expect(reported).toEqual(["Careful."]);
});

test("notices and compactions are sent to a client that shows them", () => {
  const events: SessionEvent[] = [
    { type: "notice", code: "x", message: "Careful." },
    { type: "compaction_start", reason: "manual" },
    { type: "compaction_end", reason: "manual", outcome: { kind: "failed", message: "No." } },
    { type: "compaction_start", reason: "threshold" },
    { type: "compaction_end", reason: "threshold", outcome: { kind: "aborted" } },
  ];
  expect(mapAll(events, { client: { notices: {}, compaction: {} } })).toEqual([
    { sessionUpdate: "notice", severity: "info", title: "Careful." },
    { sessionUpdate: "compaction_update", compactionId: "compaction-1", status: "in_progress" },
    { sessionUpdate: "compaction_update", compactionId: "compaction-1", status: "failed", error: "No." },
    { sessionUpdate: "compaction_update", compactionId: "compaction-2", status: "in_progress" },
    { sessionUpdate: "compaction_update", compactionId: "compaction-2", status: "cancelled" },
  ]);
});

describe("a call", () => {
  test("is announced once, then updated, and ends once", () => {
    const updates = mapAll([
      announced("bash"),
      announced("bash"),
      start("bash", { command: "make\nmake install" }),
      { type: "tool_execution_update", toolCallId: "c", updateType: "stdout", content: "one\n" },
      { type: "tool_execution_update", toolCallId: "c", updateType: "stderr", content: "two\n" },
      end("one\ntwo"),
      end("one\ntwo"),
    ]);
    expect(
      updates.map(({ sessionUpdate, ...update }) => [sessionUpdate, "status" in update ? update.status : ""]),
    ).toEqual([
      ["tool_call", "pending"],
      ["tool_call_update", "in_progress"],
      ["tool_call_update", ""],
      ["tool_call_update", ""],
      ["tool_call_update", "completed"],
    ]);
    expect(updates[1]).toMatchObject({ title: "make …", kind: "execute" });
    expect(updates[3]).toMatchObject({ content: [toText("```\none\ntwo\n```")] });
    expect(updates[4]).toMatchObject({ content: [toText("```\none\ntwo\n```")] });
  });

  test("shows the end of its output only, so that much output costs little", () => {
    const line = `${"x".repeat(99)}\n`;
    const update: SessionEvent = {
      type: "tool_execution_update",
      toolCallId: "c",
      updateType: "stdout",
      content: line,
    };
    const updates = mapAll([start("bash", { command: "yes" }), ...Array.from({ length: 500 }, () => update)]);
    expect(JSON.stringify(updates.at(-1)).length).toBeLessThan(11_000);
  });

  test("that was not allowed says why, for a person", () => {
    const denied: SessionEvent = {
      type: "tool_denied",
      toolCallId: "c",
      toolName: "bash",
      rule: "r",
      reason: "Do not try it in another way.",
      by: "person",
      advice: "bash was not allowed. You said no.",
    };
    const [, update] = mapAll([start("bash", { command: "ls" }), denied, end("Do not try it in another way.", false)]);
    expect(update).toMatchObject({ status: "failed", content: [toText("bash was not allowed. You said no.")] });
  });

  test.each(["aborted", "error"] as const)("that the model never finished fails when the message is %s", (reason) => {
    const updates = mapAll([announced("bash"), messageEnd(reason), messageEnd(reason)]);
    expect(updates.slice(1)).toMatchObject([{ toolCallId: "c", status: "failed" }]);
  });

  test("that was never executed fails with the run", () => {
    const ended = { type: "agent_end", sessionId: "s", totalTurns: 1, totalTokens: 1, durationMs: 1 } as const;
    const updates = mapAll([announced("bash"), { ...ended, terminationReason: "abort_signal" }]);
    expect(updates.slice(1)).toMatchObject([{ toolCallId: "c", status: "failed" }]);
  });

  test("that edits shows the change before and after it was made", () => {
    const input = { path: "a.txt", edits: [{ oldText: "one", newText: "two" }] };
    const diff = "--- a.txt\n+++ a.txt\n@@ -1,3 +1,3 @@\n zero\n-one\n+two\n three\n@@ -9,1 +9,2 @@\n nine\n+ten\n";
    const updates = mapAll([
      start("edit", input),
      end("Edited."),
      appended(toResult("edit", { path: "/w/a.txt", diff, firstChangedLine: 2 })),
    ]);
    expect(updates).toMatchObject([
      { kind: "edit", content: [{ type: "diff", path: "/w/a.txt", oldText: "one", newText: "two" }] },
      { status: "completed" },
      {
        content: [
          { type: "diff", path: "/w/a.txt", oldText: "zero\none\nthree", newText: "zero\ntwo\nthree" },
          { type: "diff", path: "/w/a.txt", oldText: "nine", newText: "nine\nten" },
        ],
        locations: [{ path: "/w/a.txt", line: 2 }],
      },
    ]);
    expect(updates[1]).not.toHaveProperty("content");
  });

  test("that creates a file shows all of it", () => {
    const updates = mapAll([
      start("write", { path: "n.txt", content: "new\n" }),
      end("Created."),
      appended(toResult("write", { path: "/w/n.txt", isNew: true })),
    ]);
    expect(updates.at(-1)).toMatchObject({
      content: [{ type: "diff", path: "/w/n.txt", oldText: null, newText: "new\n" }],
    });
  });

  test("that failed shows no change", () => {
    const updates = mapAll([
      start("write", { path: "n.txt", content: "new\n" }),
      end("Refused.", false),
      appended(toResult("write", { path: "/w/n.txt", isNew: true }, true)),
    ]);
    expect(updates).toHaveLength(2);
    expect(updates[1]).toMatchObject({ status: "failed", content: [toText("Refused.")] });
  });

  test("with a to-do list is a plan", () => {
    const todos = [
      { content: "a", status: "completed" },
      { content: "b", status: "in_progress" },
    ];
    const updates = mapAll([start("todo", { todos }), end("[x] a"), appended(toResult("todo", { todos }))]);
    expect(updates[0]).toMatchObject({ kind: "think" });
    expect(updates.at(-1)).toEqual({
      sessionUpdate: "plan",
      entries: todos.map((todo) => ({ ...todo, priority: "medium" })),
    });
  });

  test.each<[details: unknown]>([
    [{ todos: "x" }],
    [{ todos: [{ content: 1, status: "completed" }] }],
    [{ todos: [{ content: "a", status: "later" }] }],
    [null],
  ])("whose details are %j has no plan", (details) => {
    expect(mapAll([start("todo", {}), end(""), appended(toResult("todo", details))])).toHaveLength(2);
  });

  test("is shown in a terminal of the editor instead of its output", () => {
    const updates = new Updates(parts);
    updates.map(start("bash", { command: "ls" }));
    expect(updates.showTerminal("c", "t")).toMatchObject([{ content: [{ type: "terminal", terminalId: "t" }] }]);
    expect(updates.map({ type: "tool_execution_update", toolCallId: "c", updateType: "stdout", content: "x" })).toEqual(
      [],
    );
    expect(updates.map(end("x"))).toMatchObject([
      { status: "completed", content: [{ type: "terminal", terminalId: "t" }] },
    ]);
    expect(updates.showTerminal("gone", "t")).toEqual([]);
  });

  test("whose output has a fence in it gets a longer one", () => {
    const [, update] = mapAll([start("bash", { command: "cat README.md" }), end("````\nx\n````")]);
    expect(update).toMatchObject({ content: [toText("`````\n````\nx\n````\n`````")] });
  });
});

describe("a call about code", () => {
  const places = [
    { path: "src/a.ts", line: 3, severity: "error" },
    { path: "src/a.ts", line: 3, column: 9 },
    { path: "/lib/b.ts", line: 7 },
    { path: "src/c.ts" },
  ];
  const toLocations = (update: SessionUpdate | undefined) => (update as { locations?: unknown } | undefined)?.locations;

  test("gives the editor the places that it found, each once", () => {
    const updates = mapAll([start("lsp", {}), end("3 places"), appended(toResult("lsp", { places }))]);
    expect(updates[0]).toMatchObject({ kind: "search", title: "Language server" });
    expect(updates[1]).toMatchObject({ status: "completed", content: [toText("```\n3 places\n```")] });
    expect(updates[2]).toEqual({
      sessionUpdate: "tool_call_update",
      toolCallId: "c",
      locations: [
        { path: "/w/src/a.ts", line: 3 },
        { path: "/lib/b.ts", line: 7 },
      ],
    });
  });

  test("gives no more than 100 places, and none when it failed or shows something else", () => {
    const many = { places: Array.from({ length: 5_000 }, (_, index) => ({ path: "a", line: index + 1 })) };
    const take = (name: string, isError = false) =>
      mapAll([start(name, {}), end("x", !isError), appended(toResult(name, many, isError))])[2];
    expect(toLocations(take("lsp"))).toHaveLength(100);
    expect([take("lsp", true), take("grep")]).toEqual([undefined, undefined]);
  });

  test("gives the place of a stop first, then those of its callers", () => {
    const stop = {
      reason: "step",
      place: { path: "a.py", line: 3 },
      frames: [
        { name: "f", place: { path: "a.py", line: 3 } },
        { name: "g", place: { path: "b.py", line: 9 } },
      ],
    };
    const updates = mapAll([start("debug", {}), end("x"), appended(toResult("debug", { stop }))]);
    expect(updates[0]).toMatchObject({ kind: "execute" });
    expect(toLocations(updates[2])).toEqual([
      { path: "/w/a.py", line: 3 },
      { path: "/w/b.py", line: 9 },
    ]);
  });

  test("shows the code of a cell, its output below it, and then its value", () => {
    const code = toText("```python\nprint(1)\n42\n```");
    const updates = mapAll([
      start("eval", { code: "print(1)\n42", language: "python" }),
      { type: "tool_execution_update", toolCallId: "c", updateType: "stdout", content: "1\n" },
      end("out"),
      appended(toResult("eval", { result: "42" })),
    ]);
    expect(updates[0]).toMatchObject({ title: "Evaluate python", kind: "execute", content: [code] });
    const out = toText("```\nout\n```");
    expect(updates.slice(1).map((update) => (update as { content?: unknown }).content)).toEqual([
      [code, toText("```\n1\n```")],
      [code, out],
      [code, out, toText("```\n42\n```")],
    ]);
    const plain = mapAll([
      start("eval", { code: "x", language: "`\nevil" }),
      end("out"),
      appended(toResult("eval", {})),
    ]);
    expect(plain).toHaveLength(2);
    expect(plain[0]).toMatchObject({ content: [toText("```\nx\n```")] });
  });
});

describe("a replay", () => {
  const user = (content: string | { type: "text"; text: string }[]): SessionEntry => ({
    ...base,
    type: "message",
    message: { role: "user", content, timestamp: 0 },
  });
  const answer = (...content: object[]): SessionEntry =>
    ({ ...base, id: "a", type: "message", message: { role: "assistant", content } }) as unknown as SessionEntry;
  const play = (...entries: SessionEntry[]) => [...replay(entries, parts)];

  test("has the text of both sides, thoughts, and calls with their results", () => {
    const call = { type: "toolCall", id: "c", name: "grep", arguments: { pattern: "x" } };
    const updates = play(
      user("Look."),
      answer({ type: "thinking", thinking: "Hm." }, { type: "text", text: "I look." }, call),
      toResult("grep", {}),
      answer({ type: "text", text: "Found." }),
    );
    expect(updates).toMatchObject([
      { sessionUpdate: "user_message_chunk", content: { text: "Look." } },
      { sessionUpdate: "agent_thought_chunk", messageId: "a", content: { text: "Hm." } },
      { sessionUpdate: "agent_message_chunk", messageId: "a", content: { text: "I look." } },
      { sessionUpdate: "tool_call", toolCallId: "c", title: "Grep x", kind: "search" },
      { sessionUpdate: "tool_call_update", toolCallId: "c", status: "completed", content: [toText("```\nout\n```")] },
      { sessionUpdate: "agent_message_chunk", content: { text: "Found." } },
    ]);
  });

  test("leaves out files that were read for a prompt", () => {
    const file = '<file name="/w/a.txt">\nlong\n</file>';
    const updates = play(
      user([
        { type: "text", text: "See @a.txt" },
        { type: "text", text: file },
      ]),
    );
    expect(updates).toEqual([
      { sessionUpdate: "user_message_chunk", messageId: "e", content: { type: "text", text: "See @a.txt" } },
    ]);
  });

  test("ends calls that have no result", () => {
    const call = { type: "toolCall", id: "c", name: "bash", arguments: {} };
    expect(play(answer(call)).at(-1)).toMatchObject({ toolCallId: "c", status: "failed" });
  });

  test("has the name last, and survives entries of a later version", () => {
    const later = { ...base, type: "later" } as unknown as SessionEntry;
    const message = { ...base, type: "message", message: { role: "later" } } as unknown as SessionEntry;
    expect(play({ ...base, type: "session_info", name: "Work" }, later, message)).toEqual([
      { sessionUpdate: "session_info_update", title: "Work" },
    ]);
  });
});
