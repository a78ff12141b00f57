import { type AssistantMessage, emptyUsage } from "@tau/ai";
import {
  customTypes,
  emptyView,
  type NestedCall,
  reduce,
  type SessionEntry,
  type SessionEvent,
  type SessionMessage,
  type View,
} from "@tau/protocol";
import { getMarkdownTheme, setKeybindings, stripTerminalSequences } from "@tau/tui";
import { expect, onTestFinished, test } from "vitest";
import { createKeybindings } from "./keybindings.ts";
import type { Look } from "./look.ts";
import type { SessionClient } from "./session-client.ts";
import { ShellCommands } from "./shell-commands.ts";
import { Themes } from "./themes.ts";
import { Transcript } from "./transcript.ts";

const { theme } = new Themes({ mode: "none", files: [] });
const look: Look = {
  theme,
  markdown: getMarkdownTheme(theme),
  outputPad: 0,
  expandsTools: false,
  hidesThinking: false,
  thinkingLabel: "Thinking …",
  getColumns: () => 80,
  cwd: "/",
  images: { areShown: false, maxWidthCells: 10 },
  shows: new Map(),
};

function open() {
  let passed = 0;
  const transcript = new Transcript({ look, now: () => passed, describeOlder: () => "older" });
  let view: View = emptyView;
  let entryCount = 0;
  const take = (event: SessionEvent) => {
    view = reduce(view, event);
  };
  const createBase = () => ({ id: `e${entryCount++}`, parentId: view.log.leafId, timestamp: "" });
  const appendEntry = (entry: SessionEntry) => take({ type: "entry_appended", entry });
  const append = (message: SessionMessage) => appendEntry({ type: "message", ...createBase(), message });
  return {
    transcript,
    append,
    take,
    advance: (ms: number) => void (passed += ms),
    /** State of an extension. */
    keep: () => appendEntry({ type: "custom", ...createBase(), customType: "state", data: {} }),
    nest: (call: Partial<NestedCall>) =>
      appendEntry({
        type: "custom",
        ...createBase(),
        customType: customTypes.nestedCall,
        data: { content: [], ...call },
      }),
    compact: (summary: string, tokensBefore: number) =>
      appendEntry({ type: "compaction", ...createBase(), summary, firstKeptEntryId: "e9", tokensBefore }),
    say: (content: string) => append({ role: "user", content, timestamp: 0 }),
    begin: (messageId: string, delta: string) => {
      take({ type: "message_start", messageId, role: "assistant", model: "p/m", usage: { inputTokens: 0 } });
      take({ type: "text_delta", messageId, delta, index: 0 });
    },
    log: (text: string, stopReason: AssistantMessage["stopReason"] = "stop") =>
      append({
        role: "assistant",
        content: [{ type: "text", text }],
        api: "openai-completions",
        provider: "p",
        model: "m",
        usage: emptyUsage(),
        stopReason,
        timestamp: 0,
      }),
    /** The last entry, which failed, is asked for again. */
    withdraw: () =>
      appendEntry({ type: "context_edit", ...createBase(), targetId: view.log.leafId ?? "", replacement: null }),
    end: (messageId: string) =>
      take({ type: "message_end", messageId, stopReason: "end_turn", usage: { inputTokens: 0, outputTokens: 0 } }),
    /** Copies the view, as a gateway sends it after a break. */
    copyView: () => {
      view = structuredClone(view);
    },
    getEntries: () => view.log.entries,
    draw: () => {
      transcript.update(view);
      return transcript
        .render(80)
        .map((line) => stripTerminalSequences(line).trim())
        .filter(Boolean);
    },
  };
}

test("an answer that is arriving is shown, also if others were logged since the last frame", () => {
  const { say, begin, log, end, draw } = open();
  say("Hello");
  begin("m1", "One");
  log("One");
  end("m1");
  say("Go on");
  begin("m2", "Two");
  expect(draw()).toEqual(["› Hello", "One", "› Go on", "Two"]);
});

test("the next attempt of an answer that failed is shown while it arrives", () => {
  const { begin, log, end, draw } = open();
  begin("m1", "Half");
  log("Half", "error");
  end("m1");
  begin("m2", "Whole");
  expect(draw()).toContain("Whole");
});

test.each([true, false])("an answer that is logged and still live is shown once (drawn before: %s)", (isDrawn) => {
  const { begin, log, end, draw } = open();
  begin("m1", "One");
  if (isDrawn) draw();
  log("One");
  expect(draw()).toEqual(["One"]);
  end("m1");
  expect(draw()).toEqual(["One"]);
});

test("an answer is shown once if another entry comes before its end", () => {
  const { begin, log, keep, end, say, draw } = open();
  begin("m1", "One");
  log("One");
  keep();
  expect(draw()).toEqual(["One"]);
  end("m1");
  say("Go on");
  keep();
  begin("m2", "Two");
  expect(draw()).toEqual(["One", "› Go on", "Two"]);
});

test("the entry of a command does not go to an earlier one that could not be run", async () => {
  const { transcript, append, draw } = open();
  let isAway = true;
  const output = { output: "a file", exitCode: 0, cancelled: false, truncated: false };
  const execute = async () => {
    if (isAway) throw new Error("There is no connection.");
    return output;
  };
  const client = { execute } as unknown as SessionClient;
  const shell = new ShellCommands({ transcript, getClient: () => client, now: () => 0, requestRender: () => {} });
  await expect(shell.run("!ls")).rejects.toThrow("no connection");
  isAway = false;
  await shell.run("!ls");
  append({ role: "bashExecution", command: "ls", timestamp: 0, ...output });
  expect(draw()).toEqual(["$ ls (stopped)", "$ ls", "a file"]);
});

test("a snapshot with entries that are shown already draws nothing anew", () => {
  const { transcript, say, log, copyView, draw } = open();
  say("Hello");
  log("One");
  draw();
  const before = [...transcript.children];
  copyView();
  say("Go on");
  expect(draw()).toEqual(["› Hello", "One", "› Go on"]);
  expect(transcript.children.slice(0, before.length)).toEqual(before);
  for (const [index, child] of before.entries()) expect(transcript.children[index]).toBe(child);
});

test("the time of a call is without the time until the user answered", () => {
  const { append, take, advance, draw } = open();
  const call = { toolCallId: "c1", toolName: "bash" };
  take({ type: "tool_execution_start", ...call, input: { command: "make" }, messageId: "m1" });
  draw();
  advance(2_000);
  const approval = { id: "a1", ...call, summary: "", reason: "", choices: [] };
  take({ type: "approval_requested", approval });
  draw();
  advance(60_000);
  draw();
  take({ type: "approval_resolved", approvalId: "a1", decision: "allowed", by: "user" });
  draw();
  advance(3_000);
  take({ type: "tool_execution_end", toolCallId: "c1", success: true, output: "", durationMs: 65_000 });
  append({ role: "toolResult", ...call, content: [], details: undefined, isError: false, timestamp: 0 });
  expect(draw()).toEqual(["● bash make (took 5.0 s)"]);
});

const started: SessionEvent = {
  type: "agent_start",
  sessionId: "s",
  model: "p/m",
  tools: [],
  thinkingLevel: "off",
  timestamp: 0,
};

const outer = { toolCallId: "c1", toolName: "outer" };
const outerAnswer: AssistantMessage = {
  role: "assistant",
  content: [{ type: "toolCall", id: "c1", name: "outer", arguments: {} }],
  api: "openai-completions",
  provider: "p",
  model: "m",
  usage: emptyUsage(),
  stopReason: "toolUse",
  timestamp: 0,
};
const outerResult: SessionMessage = {
  role: "toolResult",
  ...outer,
  content: [{ type: "text", text: "all done" }],
  details: undefined,
  isError: false,
  timestamp: 0,
};
const toNested = (index: number, fields: Partial<NestedCall> = {}): Partial<NestedCall> => ({
  toolCallId: `c1/${index}`,
  toolName: "read",
  parentToolCallId: "c1",
  input: { path: `${index}.txt` },
  isError: false,
  ...fields,
});

test("a call through another tool is shown as the tool that it reaches, once that is known", () => {
  const { append, take, begin, draw } = open();
  begin("m1", "Look.");
  take({ type: "toolcall_delta", messageId: "m1", toolCallId: "c1", toolName: "call_tool", delta: '{"name"' });
  expect(draw().join("\n")).toContain("call_tool");
  append({
    ...outerAnswer,
    content: [
      { type: "text", text: "Look." },
      { type: "toolCall", id: "c1", name: "mcp__docs__read", arguments: { path: "a.md" }, via: "call_tool" },
    ],
  });
  const drawn = draw().join("\n");
  expect(drawn).toContain("mcp__docs__read a.md");
  expect(drawn).not.toContain("call_tool");
});

test("the code of a cell is shown while it arrives, and its output below it", () => {
  look.shows = new Map([["eval", "cell"]]);
  onTestFinished(() => void (look.shows = new Map()));
  const { append, take, begin, draw } = open();
  const cell = { toolCallId: "c1", toolName: "eval", messageId: "m1" };
  begin("m1", "Look.");
  take({ type: "toolcall_delta", ...cell, delta: '{"language":"python","code":"x = 1\\npri' });
  expect(draw()).toEqual(["Look.", "● eval python", "│ x = 1", "│ pri"]);
  const input = { language: "python", code: "x = 1\nprint(x)" };
  append({
    ...outerAnswer,
    content: [
      { type: "text", text: "Look." },
      { type: "toolCall", id: "c1", name: "eval", arguments: input },
    ],
  });
  take({ type: "tool_execution_start", ...cell, input });
  take({ type: "tool_execution_update", toolCallId: "c1", updateType: "stdout", content: "1\n" });
  expect(draw()).toEqual(["Look.", "● eval python", "│ x = 1", "│ print(x)", "1"]);
  // A terminal that draws no images names them, also beside a text, which is not about them.
  const png = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAIAAAB7QOjd";
  const image = { type: "image" as const, mimeType: "image/png", data: png };
  const content = [{ type: "text" as const, text: "1" }, image];
  take({ type: "tool_execution_end", toolCallId: "c1", output: "", durationMs: 1, success: true });
  append({ ...outerResult, toolName: "eval", content });
  expect(draw().join("\n")).toMatch(/│ print\(x\)\n1\n.*image\/png/);
});

test("the calls that a tool makes are below it, while they run and afterwards", () => {
  const { append, nest, take, draw } = open();
  take(started);
  append(outerAnswer);
  take({ type: "tool_execution_start", ...outer, input: {}, messageId: "m1" });
  const start = { type: "tool_execution_start", toolName: "bash", messageId: "m1" } as const;
  take({ ...start, toolCallId: "c1/1", parentToolCallId: "c1", input: { command: "make" } });
  expect(draw()).toEqual(["● outer", "● bash make (running)"]);
  const approval = { id: "a1", toolCallId: "c1/1", toolName: "bash", summary: "", reason: "", choices: [] };
  take({ type: "approval_requested", approval });
  expect(draw()).toEqual(["● outer", "● bash make (waits for your answer)"]);
  take({ type: "approval_resolved", approvalId: "a1", decision: "denied", by: "user" });
  const denied = { toolName: "bash", input: { command: "make\u0007" }, isError: true, errorCode: "denied" };
  nest(toNested(1, denied));
  const end = { type: "tool_execution_end", output: "", durationMs: 1 } as const;
  take({ ...end, toolCallId: "c1/1", parentToolCallId: "c1", success: false });
  nest(toNested(2));
  expect(draw()).toEqual(["● outer", "● bash make (denied)", "● read 2.txt (done)"]);
  take({ ...end, toolCallId: "c1", success: true });
  append(outerResult);
  expect(draw()).toEqual(["● outer", "● bash make (denied)", "● read 2.txt (done)", "all done"]);
});

test("of many calls that a tool made only the last are shown, until it is expanded", () => {
  const { transcript, append, nest, draw } = open();
  onTestFinished(() => void (look.expandsTools = false));
  setKeybindings(createKeybindings());
  append(outerAnswer);
  for (let index = 1; index <= 8; index++) nest(toNested(index));
  append(outerResult);
  const rows = [1, 2, 3, 4, 5, 6, 7, 8].map((index) => `● read ${index}.txt (done)`);
  expect(draw()).toEqual(["● outer", "… 3 more calls (ctrl+o)", ...rows.slice(3), "all done"]);
  look.expandsTools = true;
  transcript.invalidate();
  expect(draw()).toEqual(["● outer", ...rows, "all done"]);
});

test("calls that a tool made are also below it if older entries are read in several pages", () => {
  const { transcript, append, nest, getEntries, draw } = open();
  onTestFinished(() => void (look.expandsTools = false));
  look.expandsTools = true;
  append(outerAnswer);
  for (let index = 1; index <= 99; index++) nest(toNested(index));
  append(outerResult);
  expect(draw()).toEqual(["older"]);
  const entries = getEntries();
  const shown = entries.length - 60;
  for (const [from, to] of [[shown - 20, shown] as const, [0, shown - 20] as const]) {
    expect(transcript.addOlder(transcript.missing!, entries.slice(from, to), from > 0)).toBe(true);
  }
  const drawn = draw();
  expect(drawn.slice(0, 3)).toEqual(["● outer", "● read 1.txt (done)", "● read 2.txt (done)"]);
  expect(drawn).toHaveLength(101);
});

const ended: SessionEvent = {
  type: "agent_end",
  sessionId: "s",
  totalTurns: 1,
  totalTokens: 0,
  durationMs: 0,
  terminationReason: "error",
};

test("an answer that is asked for again leaves nothing behind, neither its text nor its failure", () => {
  const { say, begin, log, end, withdraw, take, draw } = open();
  say("Hello");
  take(started);
  begin("m1", "One two");
  draw();
  log("One two", "error");
  end("m1");
  expect(draw().join("\n")).not.toContain("Error");
  take({ type: "retry_scheduled", attempt: 1, delayMs: 1, reason: "Busy." });
  expect(draw().join("\n")).not.toContain("Error");
  withdraw();
  begin("m2", "One");
  expect(draw()).toEqual(["› Hello", "One two"]);
  take({ type: "text_delta", messageId: "m2", delta: " two three", index: 3 });
  expect(draw()).toEqual(["› Hello", "One two three"]);
  log("One two three");
  end("m2");
  expect(draw()).toEqual(["› Hello", "One two three"]);
});

test("an answer that begins with other words takes the place of the one that was cut", () => {
  const { say, begin, log, end, withdraw, take, draw } = open();
  say("Hello");
  take(started);
  begin("m1", "One two");
  draw();
  log("One two", "error");
  end("m1");
  withdraw();
  begin("m2", "Three");
  expect(draw()).toEqual(["› Hello", "Three"]);
  log("Three", "error");
  end("m2");
  withdraw();
  log("Four");
  expect(draw()).toEqual(["› Hello", "Four"]);
});

test("an attempt that is cut earlier than the one before changes nothing", () => {
  const { say, begin, log, end, withdraw, take, draw } = open();
  say("Hello");
  take(started);
  for (const words of ["One two", "One"]) {
    begin(words, words);
    expect(draw()).toEqual(["› Hello", "One two"]);
    log(words, "error");
    expect(draw()).toEqual(["› Hello", "One two"]);
    end(words);
    expect(draw()).toEqual(["› Hello", "One two"]);
    withdraw();
  }
  begin("m3", "One two three");
  log("One two three");
  expect(draw()).toEqual(["› Hello", "One two three"]);
});

test("a failure is shown when the run has ended with it, and when the session is read again", () => {
  const { say, log, take, copyView, draw } = open();
  say("Hello");
  take(started);
  log("One two", "error");
  draw();
  take(ended);
  expect(draw()).toEqual(["› Hello", "One two", "Error: the request failed"]);
  copyView();
  expect(draw()).toEqual(["› Hello", "One two", "Error: the request failed"]);
});

test("a session that is read again shows no attempt that was repeated", () => {
  const { say, log, withdraw, draw } = open();
  say("Hello");
  log("One", "error");
  withdraw();
  log("One", "error");
  withdraw();
  log("One and two");
  expect(draw()).toEqual(["› Hello", "One and two"]);
});

test("an answer without text says that it is empty", () => {
  const { say, log, draw } = open();
  say("Hello");
  log("  ");
  expect(draw()).toEqual(["› Hello", "The answer is empty. Ask again, or choose another model with /model."]);
});

test("the summary of a compaction is unfolded with the key for it", () => {
  const { transcript, compact, draw } = open();
  onTestFinished(() => void (look.expandsTools = false));
  setKeybindings(createKeybindings());
  compact("The **first** part\x1b[2J was about cats.", 12_000);
  const line = "Compacted: a summary takes the place of 12k tokens.";
  expect(draw()).toEqual([`${line} (ctrl+o shows it)`]);
  look.expandsTools = true;
  transcript.invalidate();
  expect(draw()).toEqual([line, "The first part was about cats."]);
});

test("a message of an extension that names lines for it is folded to them, until tools are expanded", () => {
  const { transcript, append, draw } = open();
  onTestFinished(() => void (look.expandsTools = false));
  setKeybindings(createKeybindings());
  const details = { foldedTo: ["Task 1 (look): done", "Task 2 (test): failed"] };
  append({ role: "custom", customType: "x", content: "The whole answer.", display: true, details, timestamp: 0 });
  expect(draw()).toEqual(["Task 1 (look): done", "Task 2 (test): failed (ctrl+o)"]);
  look.expandsTools = true;
  transcript.invalidate();
  expect(draw()).toEqual(["The whole answer."]);
});
