import type { AgentMessage } from "@tau/agent";
import { emptyUsage } from "@tau/ai";
import { createTools } from "@tau/tools";
import { describe, expect, test } from "vitest";
import { createTouches } from "@tau/extensions/internal";
import type { NewEntry, SessionEntry } from "../session/entry.ts";
import { cutPoints, splitTurnStart } from "./cut.ts";
import { type CompactionPlan, type CompactionReason, planCompaction } from "./plan.ts";
import { serialise } from "./serialise.ts";
import { type CompactionSettings, resolveCompactionSettings, shouldCompact, summaryTokens } from "./settings.ts";
import { contextTokens, estimateTokens, imageTokens } from "./tokens.ts";
import { toEntry } from "../../test/entries.ts";

const model = { provider: "p", id: "m", contextWindow: 8_000, maxTokens: 4_000 };
const settings = resolveCompactionSettings({ reserveTokens: 1_000, keepRecentTokens: 1_000 }, model);

/** `length` characters. */
const words = (length: number) => "x".repeat(length);

/**
 * An entry from a word: `u` user, `a` answer, `a12` answer with the calls 1 and 2, `f1` failed answer, `r1` result of call
 * 1, `b` command of the user, `c` custom message, `s` branch summary, `k` compaction that kept nothing. `u*400` has 400
 * tokens, others 10.
 */
function getEntry(word: string): NewEntry {
  const [what, tokens = "10"] = word.split("*");
  const text = words(Number(tokens) * 4);
  const content = [{ type: "text" as const, text }];
  const rest = what!.slice(1);
  const message = (value: unknown): NewEntry => ({ type: "message", message: value as AgentMessage });
  switch (what![0]) {
    case "a":
    case "f": {
      const stopReason = what![0] === "f" ? "error" : "stop";
      const calls = [...rest].map((id) => ({ type: "toolCall", id, name: "x", arguments: {} }));
      return message({ role: "assistant", content: [...content, ...calls], stopReason, usage: emptyUsage() });
    }
    case "r":
      return message({ role: "toolResult", toolCallId: rest, toolName: "x", content, isError: false });
    case "b":
      return message({ role: "bashExecution", command: "", output: text, exitCode: 0 });
    case "c":
      return { type: "custom_message", customType: "x", content, display: true };
    case "s":
      return { type: "branch_summary", fromId: "1", summary: text };
    case "k":
      return { type: "compaction", summary: text, firstKeptEntryId: "none", tokensBefore: 1 };
    default:
      return message({ role: "user", content });
  }
}

/** Ids are `1`, `2`, … */
const getBranch = (...entries: (NewEntry | string)[]): SessionEntry[] =>
  entries
    .flatMap((entry) => (typeof entry === "string" ? entry.split(" ").map(getEntry) : [entry]))
    .map((entry, index) => toEntry(entry, String(index + 1), index === 0 ? null : String(index)));
const getMessages = (text: string) =>
  text.split(" ").map((word) => {
    const entry = getEntry(word);
    return entry.type === "message" ? entry.message : ({ role: "custom", content: [] } as unknown as AgentMessage);
  });

describe("settings", () => {
  test("a setting for one model takes precedence over the general one, and that over the default", () => {
    const large = { ...model, contextWindow: 200_000 };
    const resolve = (input: CompactionSettings) => resolveCompactionSettings(input, large);
    expect(resolve({})).toEqual({
      enabled: true,
      reserveTokens: 16_384,
      keepRecentTokens: 20_000,
      contextWindow: 200_000,
    });
    const models = { "p/m": { keepRecentTokens: 5 }, "p/other": { keepRecentTokens: 6 } };
    expect(resolve({ enabled: false, reserveTokens: 7, models })).toMatchObject({
      enabled: false,
      reserveTokens: 7,
      keepRecentTokens: 5,
    });
    // pi's name for it. A quarter of the window is the limit only of what was not chosen for this model.
    const modelOverrides = { "p/m": { reserveTokens: 100_000, keepRecentTokens: 9 } };
    expect(resolve({ modelOverrides })).toMatchObject({ reserveTokens: 100_000, keepRecentTokens: 9 });
    expect(resolve({ modelOverrides, models })).toMatchObject({ reserveTokens: 100_000, keepRecentTokens: 5 });
    expect(resolve({ reserveTokens: 100_000 })).toMatchObject({ reserveTokens: 50_000 });
  });

  test.each([1_000, 8_192, 200_000])(
    "a window of %i tokens has space for all parts, whatever its model reserves",
    (contextWindow) => {
      const modelOverrides = { "p/m": { reserveTokens: contextWindow } };
      const resolved = resolveCompactionSettings({ modelOverrides }, { ...model, contextWindow });
      expect(resolved.keepRecentTokens).toBeGreaterThan(0);
      const summary = summaryTokens(resolved, { maxTokens: 0 });
      expect(resolved.keepRecentTokens + summary).toBeLessThan(contextWindow - resolved.keepRecentTokens);
    },
  );

  test.each([1_000, 4_096, 8_192, 32_000, 36_384])("a window of %i tokens has space for all parts", (contextWindow) => {
    const resolved = resolveCompactionSettings({}, { ...model, contextWindow });
    const summary = summaryTokens(resolved, model);
    expect(resolved.keepRecentTokens).toBeGreaterThan(0);
    expect(resolved.reserveTokens + resolved.keepRecentTokens + summary).toBeLessThan(contextWindow);
  });

  test("an unknown window has a default, and an invalid number is refused", () => {
    expect(resolveCompactionSettings({}, { ...model, contextWindow: 0 }).contextWindow).toBe(128_000);
    const refused = expect.objectContaining({ code: "invalid_input" });
    expect(() => resolveCompactionSettings({ reserveTokens: -1 }, model)).toThrow(refused);
    expect(() => resolveCompactionSettings({ models: { "p/m": { keepRecentTokens: Number.NaN } } }, model)).toThrow(
      refused,
    );
  });

  test("a context is compacted when it needs the reserve, unless compaction is disabled", () => {
    expect([7_000, 7_001].map((tokens) => shouldCompact(tokens, settings))).toEqual([false, true]);
    expect(shouldCompact(9_000, { ...settings, enabled: false })).toBe(false);
  });
});

describe("tokens", () => {
  test.each([
    ["text, rounded up", { role: "user", content: "12345" }, 2],
    ["an image", { role: "user", content: [{ type: "image", data: words(9_999), mimeType: "i" }] }, imageTokens],
    ["a call", { role: "assistant", content: [{ type: "toolCall", id: "1", name: "read", arguments: { a: 1 } }] }, 3],
    ["thinking", { role: "assistant", content: [{ type: "thinking", thinking: words(40) }] }, 10],
    [
      "a command that the model does not see",
      { role: "bashExecution", command: "x", output: "y", excludeFromContext: true },
      0,
    ],
    ["a message with an unknown role", { role: "other", content: "12345" }, 0],
    ["damaged content", { role: "user", content: [null, {}, { type: "text" }] }, 0],
  ])("%s is estimated", (_what, message, tokens) => {
    expect(estimateTokens(message as unknown as AgentMessage)).toBe(tokens);
  });

  const counted = (usage: object, stopReason = "stop"): NewEntry => ({
    type: "message",
    message: { role: "assistant", content: [], usage, stopReason } as unknown as AgentMessage,
  });
  const edited = (targetId: string): NewEntry => ({ type: "context_edit", targetId, replacement: null });

  test.each([
    ["there is no count", getBranch("u a u"), 30],
    ["there is a total", getBranch("u*500", counted({ totalTokens: 100 }), "u"), 110],
    [
      "there are only parts",
      getBranch("u", counted({ input: 1, output: 20, cacheRead: 300, cacheWrite: 4_000 })),
      4_321,
    ],
    ["the answer failed", getBranch("u", counted({ totalTokens: 100 }, "error")), 10],
    ["the answer was aborted", getBranch("u", counted({ totalTokens: 100 }, "aborted")), 10],
    ["the last count is 0", getBranch(counted({ totalTokens: 100 }), "u", counted({ totalTokens: 0 })), 110],
    [
      "an earlier entry was edited after the count",
      getBranch("u", "u", counted({ totalTokens: 100 }), edited("1")),
      10,
    ],
    ["a later entry was edited after the count", getBranch(counted({ totalTokens: 100 }), "u", "u", edited("2")), 110],
  ])("when %s", async (_what, branch, tokens) => {
    expect(await contextTokens(branch)).toBe(tokens);
  });

  test("a count from before the latest compaction is not used", async () => {
    const kept: NewEntry = { type: "compaction", summary: "", firstKeptEntryId: "2", tokensBefore: 1 };
    const branch = getBranch("u*500", counted({ totalTokens: 5_000 }), kept, "u");
    expect(await contextTokens(branch)).toBeLessThan(100);
    expect(await contextTokens([...branch, ...getBranch(counted({ totalTokens: 77 }))])).toBe(77);
  });
});

test.each([
  ["u a u a", [0, 1, 2, 3]],
  ["u a1 r1 a u", [0, 1, 3, 4]],
  // Several calls with results in any order.
  ["u a12 r2 r1 a", [0, 1, 4]],
  // A command between a call and its result.
  ["u a1 b r1 u", [0, 1, 4]],
  // A result after another answer.
  ["u a12 r1 a3 r3 r2 u", [0, 1, 6]],
  // A result without a call stays with the message before it.
  ["u r9 u", [0, 2]],
  // Calls without results before the next prompt.
  ["u a12 r1 u a", [0, 1, 3, 4]],
  // Two results for one call.
  ["u a1 r1 a r1 u", [0, 1, 5]],
  // An id that is used again belongs to the nearest call.
  ["u a1 r1 u a1 r1 u", [0, 1, 3, 4, 6]],
  // Results that are still missing.
  ["u a12 r1", [0, 1]],
  ["u a1 b", [0, 1]],
  // Calls of a failed answer are never executed.
  ["u f1 b", [0, 1, 2]],
])("%s may be cut at %j", (text, cuts) => {
  expect(cutPoints(getMessages(text))).toEqual(cuts);
});

test.each([
  ["u a u a", 2, undefined],
  ["u a1 r1 a u", 3, 0],
  ["u a b c a", 4, 2],
  // The start of the turn was compacted.
  ["a a a", 2, undefined],
])("%s cut at %i splits the turn that begins at %s", (text, cut, start) => {
  expect(splitTurnStart(getMessages(text), cut)).toBe(start);
});

/** For the built-in tools, as in a session. */
const touches = createTouches({ current: () => [], builtIn: createTools({ cwd: "/w" }).byName });

describe("a plan", () => {
  const plan = async (branch: SessionEntry[], reason: CompactionReason = "manual"): Promise<CompactionPlan> => {
    const planned = await planCompaction(branch, settings, reason, touches);
    if (planned.kind === "nothing") throw new Error(planned.reason);
    return planned.plan;
  };

  test.each([
    ["keeps whole turns if they are half of what may be kept", "u*900 a*900 u*300 a*450 u*300 a*250", "5", 0],
    ["otherwise keeps as many messages as possible", "u*900 a*900 a*800 u*50 a*50", "3", 2],
    ["splits a turn that is too long", "u*500 a1*900 r1*900 a2*300 r2*300", "4", 3],
    ["keeps calls and results together", "u*900 a12*10 r1*500 r2*500 a*200", "5", 4],
    ["keeps less than allowed if everything would fit", "u*100 a*100 u*100 a*100 u*100 a*100", "5", 0],
    ["keeps messages that cannot be divided if they fit", "u*2000 a1*10 r1*3000", "2", 1],
    ["keeps nothing if they are too large", "u*10 a1*10 r1*30000", null, 0],
    ["keeps nothing of a single message", "u*30000", null, 0],
    ["keeps a call without all of its results", "u*900 a*900 u*10 a12*10 r1*10", "3", 0],
    ["keeps such a call even if it fills the window", "u*900 a12*10 r1*30000", "2", 1],
  ])("%s", async (_what, text, firstKept, prefix) => {
    expect(await plan(getBranch(text))).toMatchObject({
      firstKeptEntryId: firstKept,
      turnPrefix: { length: prefix },
    });
  });

  test("does not keep a failed answer alone, but with its prompt", async () => {
    const failed = { role: "assistant", content: [], stopReason: "error", usage: emptyUsage() };
    const branch = getBranch("u*2000 a*900 u*1500", { type: "message", message: failed as unknown as AgentMessage });
    expect((await plan(branch)).firstKeptEntryId).toBe("3");
  });

  test("updates the previous summary, and starts where the last compaction kept", async () => {
    const kept: NewEntry = { type: "compaction", summary: "before", firstKeptEntryId: "2", tokensBefore: 1 };
    const made = await plan(getBranch("u*900 u*400 a*400", kept, "u*400 a*400"));
    expect(made).toMatchObject({ previousSummary: "before", firstKeptEntryId: "5" });
    expect(made.messages).toHaveLength(2);
  });

  test("leaves out hidden entries, and uses the edited content of others", async () => {
    const branch = getBranch(
      "u*900 u*900 a*100",
      { type: "context_edit", targetId: "1", replacement: null },
      { type: "context_edit", targetId: "2", replacement: { content: `shown ${words(3_000)}` } },
    );
    const { messages, turnPrefix } = await plan(branch);
    expect(JSON.stringify([...messages, ...turnPrefix])).toMatch(/^\[\{"role":"user","content":"shown x+"\}\]$/);
  });

  test("updates the edited content of the previous summary", async () => {
    const edit: NewEntry = { type: "context_edit", targetId: "1", replacement: { content: "shown" } };
    expect((await plan(getBranch("k*100 u*900 a*900 u*10", edit))).previousSummary).toBe("shown");
  });

  test("shortens a summary that fills the window, and then keeps all messages", async () => {
    expect(await plan(getBranch("k*5000 u*10 a*10"))).toMatchObject({ messages: [], firstKeptEntryId: "2" });
    expect(await plan(getBranch("k*5000"))).toMatchObject({ messages: [], firstKeptEntryId: null });
  });

  test("keeps less if the provider counts more than our estimate, or refused the context", async () => {
    const text = Array.from({ length: 40 }, () => "u*50 a*50").join(" ");
    const kept = (made: CompactionPlan) => made.keptTokens;
    const usage = { ...emptyUsage(), totalTokens: 8_010 };
    const answer = { role: "assistant", content: [], stopReason: "stop", usage } as unknown as AgentMessage;
    expect(kept(await plan(getBranch(text)))).toBe(1_000);
    expect(kept(await plan(getBranch(text), "overflow"))).toBe(500);
    expect(kept(await plan(getBranch(text, { type: "message", message: answer })))).toBe(400);
  });

  test.each([
    ["empty", getBranch()],
    ["empty", getBranch("k*100")],
    ["too_small", getBranch("u*50 a*50")],
    // The call has no result yet, and the messages before it are not worth a summary.
    ["too_small", getBranch("u*50 a1*2000")],
  ])("is not made if it saves nothing: %s", async (reason, branch) => {
    expect(await planCompaction(branch, settings, "manual")).toEqual({ kind: "nothing", reason });
  });

  test("is made at most three times without progress, unless the user asks", async () => {
    const branch = getBranch("u*30000 k k k", "c*9000");
    expect(await planCompaction(branch, settings, "overflow")).toEqual({ kind: "nothing", reason: "no_progress" });
    expect((await planCompaction(branch, settings, "manual")).kind).toBe("compact");
    expect((await planCompaction(getBranch("u*30000 k k", "c*9000"), settings, "overflow")).kind).toBe("compact");
    expect((await planCompaction(getBranch("u*30000 k k k u*9000"), settings, "overflow")).kind).toBe("compact");
    expect((await planCompaction(getBranch("u*30000 k k k a*9000"), settings, "threshold")).kind).toBe("compact");
  });

  test("lists the read and modified files, also of earlier summaries, but not of failed calls", async () => {
    const called = (id: string, name: string, args: object): NewEntry => ({
      type: "message",
      message: {
        role: "assistant",
        content: [{ type: "toolCall", id, name, arguments: args }],
        usage: emptyUsage(),
      } as unknown as AgentMessage,
    });
    const failed = { role: "toolResult", toolCallId: "3", toolName: "write", content: [], isError: true };
    const details = { readFiles: ["old-read", "later-changed"], modifiedFiles: ["old-changed"] };
    const branch = getBranch(
      { type: "compaction", summary: "s", firstKeptEntryId: "1", tokensBefore: 1, details },
      { type: "branch_summary", fromId: "x", summary: "s", details: { readFiles: ["branch-read"] } },
      called("1", "read", { path: "a" }),
      called("2", "edit", { file_path: "b" }),
      called("3", "write", { path: "c" }),
      { type: "message", message: failed as unknown as AgentMessage },
      called("4", "hashline_edit", { path: "later-changed" }),
      called("5", "hashline_patch", { patch: "¶d e.ts#0a1B\n5!\n¶ f.ts#ffff\n+¶ not a section" }),
      called("6", "bash", { path: "no" }),
      called("7", "read", {}),
      "u*2000 a*10",
    );
    expect((await plan(branch)).files).toEqual({
      readFiles: ["old-read", "branch-read", "a"],
      modifiedFiles: ["old-changed", "b", "later-changed", "d e.ts", "f.ts"],
    });
  });
});

test("signals and timers are served while a long branch is planned and serialised", async () => {
  const branch = getBranch(...Array.from({ length: 35_000 }, () => "u"));
  const countTurns = async (work: () => Promise<unknown>): Promise<number> => {
    let turns = 0;
    let timer = setImmediate(function count() {
      turns++;
      timer = setImmediate(count);
    });
    await work();
    clearImmediate(timer);
    return turns;
  };
  // Three for each of three passes, and two between the steps that look at all messages.
  expect(await countTurns(() => planCompaction(branch, settings, "manual"))).toBeGreaterThanOrEqual(10);
  const messages = branch.flatMap((entry) => (entry.type === "message" ? entry.message : []));
  expect(await countTurns(() => serialise(messages, 100))).toBeGreaterThanOrEqual(3);
});
