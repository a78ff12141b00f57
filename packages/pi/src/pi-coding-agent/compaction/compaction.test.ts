import { describe, expect, test } from "vitest";
import { type AssistantMessage, emptyUsage, type Usage, type UserMessage } from "@tau/ai";
import { text, scriptedModel, type ScriptedModel } from "@tau/ai/testing";
import type { SessionEntry } from "@tau/harness/session";
import { SessionManager } from "../session/session-manager.ts";
import { collectEntriesForBranchSummary, generateBranchSummary, prepareBranchEntries } from "./branch-summary.ts";
import { compact, generateSummary } from "./compact.ts";
import { findCutPoint } from "./cut-point.ts";
import { prepareCompaction } from "./prepare.ts";
import { serializeConversation } from "./serialize.ts";
import {
  calculateContextTokens,
  DEFAULT_COMPACTION_SETTINGS,
  estimateContextTokens,
  estimateTokens,
  getLastAssistantUsage,
  shouldCompact,
} from "./tokens.ts";

const usage = (totalTokens: number): Usage => ({ ...emptyUsage(), input: totalTokens, totalTokens });
const user = (content: string): UserMessage => ({ role: "user", content, timestamp: 1 });
const assistant = (content: AssistantMessage["content"] | string, tokens = 0): AssistantMessage => ({
  role: "assistant",
  content: typeof content === "string" ? [{ type: "text", text: content }] : content,
  api: "anthropic-messages",
  provider: "anthropic",
  model: "claude",
  usage: usage(tokens),
  stopReason: "stop",
  timestamp: 2,
});
const call = (name: string, path: string) =>
  assistant([{ type: "toolCall", id: `${name}-${path}`, name, arguments: { path } }]);

const createSession = (...messages: (UserMessage | AssistantMessage)[]) => {
  const session = SessionManager.inMemory();
  for (const message of messages) session.appendMessage(message);
  return session;
};

describe("tokens", () => {
  test("an estimate takes four characters for a token", () => {
    expect(estimateTokens(user("x".repeat(9)))).toBe(3);
    expect(
      estimateTokens({ role: "user", content: [{ type: "image", data: "", mimeType: "image/png" }], timestamp: 1 }),
    ).toBe(1_200);
    expect(estimateTokens(call("read", "a.ts"))).toBe(Math.ceil('read{"path":"a.ts"}'.length / 4));
  });

  test("the count of the last answer is used, unless it failed", () => {
    const messages = [user("a"), assistant("b", 100), user("x".repeat(40))];
    expect(estimateContextTokens(messages)).toEqual({
      tokens: 110,
      usageTokens: 100,
      trailingTokens: 10,
      lastUsageIndex: 1,
    });
    const failed = createSession(...messages, { ...assistant("c", 900), stopReason: "error" });
    expect(calculateContextTokens(getLastAssistantUsage(failed.getEntries())!)).toBe(100);
    expect(getLastAssistantUsage([])).toBeUndefined();
    const uncounted = [...messages, assistant("d", 0)];
    expect(estimateContextTokens(uncounted)).toMatchObject({ usageTokens: 100, lastUsageIndex: 1 });
  });

  test("a context that needs the reserve is compacted", () => {
    const settings = { ...DEFAULT_COMPACTION_SETTINGS, reserveTokens: 10 };
    expect([shouldCompact(91, 100, settings), shouldCompact(90, 100, settings)]).toEqual([true, false]);
    expect(shouldCompact(99, 100, { ...settings, enabled: false })).toBe(false);
  });
});

describe("cut point", () => {
  test("is a user message if one is near, and in a long turn an answer", () => {
    const turns = createSession(user("x".repeat(400)), assistant("y"), user("z".repeat(400)), assistant("w"));
    expect(findCutPoint(turns.getEntries(), 0, 4, 50)).toEqual({
      firstKeptEntryIndex: 2,
      turnStartIndex: -1,
      isSplitTurn: false,
    });
    const long = createSession(user("go"), assistant("x".repeat(400)), assistant("y".repeat(400)));
    expect(findCutPoint(long.getEntries(), 0, 3, 50)).toEqual({
      firstKeptEntryIndex: 2,
      turnStartIndex: 0,
      isSplitTurn: true,
    });
  });

  test("keeps everything that is short, and changes of the model with their message", () => {
    const session = createSession(user("a"), assistant("b"));
    expect(findCutPoint(session.getEntries(), 0, 2, 1_000).firstKeptEntryIndex).toBe(0);
    session.appendModelChange("anthropic", "claude");
    session.appendMessage(user("x".repeat(400)));
    expect(findCutPoint(session.getEntries(), 0, 4, 50).firstKeptEntryIndex).toBe(2);
    expect(findCutPoint([], 0, 0, 50)).toMatchObject({ firstKeptEntryIndex: 0, isSplitTurn: false });
  });
});

describe("cut point after other entries", () => {
  const long = "x".repeat(400);

  test("messages of extensions count and begin a turn", () => {
    const session = createSession(user("a"), assistant("b"));
    session.appendCustomMessageEntry("note", long, true);
    session.appendMessage(assistant("c"));
    const cut = findCutPoint(session.getEntries(), 0, 4, 50);
    expect(cut).toEqual({ firstKeptEntryIndex: 2, turnStartIndex: -1, isSplitTurn: false });
  });

  test("a long result at the end stays with its call", () => {
    const session = createSession(user("a"), assistant("b"), user("c"), call("read", "a.ts"));
    session.appendMessage({
      role: "toolResult",
      toolCallId: "read-a.ts",
      toolName: "read",
      content: [{ type: "text", text: long }],
      isError: false,
      timestamp: 3,
    });
    expect(findCutPoint(session.getEntries(), 0, 5, 50)).toMatchObject({ firstKeptEntryIndex: 3, turnStartIndex: 2 });
  });
});

describe("preparation", () => {
  const settings = { ...DEFAULT_COMPACTION_SETTINGS, keepRecentTokens: 20 };

  test("there is none if all of it is kept", () => {
    const session = createSession(user("a"), assistant("b"));
    expect(prepareCompaction(session.getBranch(), settings)).toBeUndefined();
    session.appendCompaction("s", session.getEntries()[0]!.id, 1);
    session.appendMessage(user("c"));
    expect(prepareCompaction(session.getBranch(), settings)).toBeUndefined();
  });

  test("sums up what the last compaction kept, and updates its summary", () => {
    const session = createSession(user("old"), assistant("older answer"));
    const kept = session.appendMessage(user("kept"));
    session.appendCompaction("the summary", kept, 5, { readFiles: ["a.ts"], modifiedFiles: [] });
    session.appendMessage(call("edit", "b.ts"));
    const last = session.appendMessage(user("x".repeat(100)));
    const preparation = prepareCompaction(session.getBranch(), settings)!;
    expect(preparation).toMatchObject({
      firstKeptEntryId: last,
      previousSummary: "the summary",
      messagesToSummarize: [user("kept"), { role: "assistant" }],
      isSplitTurn: false,
      fileOps: { read: new Set(["a.ts"]), edited: new Set(["b.ts"]) },
    });
  });

  test("there is none right after a compaction", () => {
    const session = createSession(user("a"));
    session.appendCompaction("s", session.getLeafId(), 1);
    expect(prepareCompaction(session.getBranch(), settings)).toBeUndefined();
    expect(prepareCompaction([], settings)).toBeUndefined();
  });
});

describe("summaries", () => {
  const seen = (model: ScriptedModel) => JSON.stringify(model.asked);

  test("a compaction ends with the files, and a split turn has a summary of its own", async () => {
    const session = createSession(user("first"), assistant("done"), user("second"), call("write", "new.ts"));
    session.appendMessage(assistant("x".repeat(200)));
    const preparation = prepareCompaction(session.getBranch(), {
      ...DEFAULT_COMPACTION_SETTINGS,
      keepRecentTokens: 20,
    })!;
    const model = scriptedModel([[text("HISTORY")], [text("PREFIX")]]);
    const result = await compact(preparation, model, "key", "only the goal");
    expect(result.summary).toMatch(/^HISTORY\n\n---\n\n\*\*Turn Context \(split turn\):\*\*\n\nPREFIX\n\n/);
    expect(result.summary).toContain("<modified-files>\nnew.ts\n</modified-files>");
    expect(result).toMatchObject({ details: { modifiedFiles: ["new.ts"] }, firstKeptEntryId: session.getLeafId() });
    expect(seen(model)).toContain("only the goal");
  });

  test("both orders of arguments are understood", async () => {
    const model = scriptedModel([[text("ONE")], [text("TWO")]]);
    const signal = new AbortController().signal;
    expect(await generateSummary([user("a")], model, 1_000, "key", signal, "old order")).toBe("ONE");
    expect(await generateSummary([user("a")], model, 1_000, "key", { "x-a": "1" }, signal, "new order")).toBe("TWO");
    expect(seen(model)).toContain("old order");
    expect(seen(model)).toContain("new order");
    await expect(generateSummary([user("a")], scriptedModel([]), 1_000, "key")).rejects.toThrow("Summarization failed");
  });

  test("a level of thinking counts for a model that can think", async () => {
    const ask = async (reasoning: boolean, level?: string) => {
      const model = scriptedModel([[text("ONE")]], { model: { reasoning } });
      await generateSummary([user("a")], model, 1_000, "key", {}, undefined, undefined, undefined, level);
      model.dispose();
      return model.asked[0]!.options.reasoning;
    };
    expect(await ask(true, "high")).toBe("high");
    expect([await ask(false, "high"), await ask(true, "off"), await ask(true)]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  test("a branch that is left is summed up from where the branches part", async () => {
    const session = createSession(user("shared"));
    const shared = session.getLeafId()!;
    session.appendMessage(assistant("left"));
    const left = session.appendMessage(call("read", "left.ts"));
    session.branch(shared);
    const target = session.appendMessage(assistant("target"));
    const { entries, commonAncestorId } = collectEntriesForBranchSummary(session, left, target);
    expect(commonAncestorId).toBe(shared);
    expect(entries).toHaveLength(2);
    const model = scriptedModel([[text("LEFT")]]);
    const signal = new AbortController().signal;
    expect(await generateBranchSummary(entries, { model, signal })).toMatchObject({
      summary: "LEFT\n\n<read-files>\nleft.ts\n</read-files>",
      readFiles: ["left.ts"],
    });
    expect(await generateBranchSummary(entries, { model, signal: AbortSignal.abort() })).toEqual({ aborted: true });
    expect(await generateBranchSummary([], { model, signal })).toEqual({ summary: "No content to summarize" });
  });

  test("only the latest messages of a long branch are taken", () => {
    const entries = createSession(user("x".repeat(400)), assistant("y".repeat(40)), user("z".repeat(40))).getEntries();
    expect(prepareBranchEntries(entries, 25)).toMatchObject({ totalTokens: 20, messages: [{}, user("z".repeat(40))] });
    expect(prepareBranchEntries(entries as SessionEntry[]).messages).toHaveLength(3);
  });
});

test("a conversation as text names who says what, and cuts long results", () => {
  const answer = assistant([
    { type: "thinking", thinking: "hm" },
    { type: "text", text: "I will look." },
    { type: "toolCall", id: "1", name: "read", arguments: { path: "a.ts", limit: 3 } },
  ]);
  const result = {
    role: "toolResult" as const,
    toolCallId: "1",
    toolName: "read",
    content: [{ type: "text" as const, text: "x".repeat(2_500) }],
    isError: false,
    timestamp: 3,
  };
  const lines = serializeConversation([user("hello"), answer, result]).split("\n\n");
  expect(lines.slice(0, 4)).toEqual([
    "[User]: hello",
    "[Assistant thinking]: hm",
    "[Assistant]: I will look.",
    '[Assistant tool calls]: read(path="a.ts", limit=3)',
  ]);
  expect(lines.at(-1)).toBe("[... 500 more characters truncated]");
});
