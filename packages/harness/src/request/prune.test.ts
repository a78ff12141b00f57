import type { AgentMessage } from "@tau/agent";
import { emptyUsage } from "@tau/ai";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { estimateAll, estimateTokens } from "../compaction/tokens.ts";
import { pruneBoundary, pruneMessages, pruneStep } from "./prune.ts";

const settings = { enabled: true, keepRecentTokens: 20_000 };
const step = 10_000;

const toMessage = (value: unknown) => value as AgentMessage;
const block = (tokens: number) => ({ type: "text" as const, text: "x".repeat(tokens * 4) });
const user = (tokens = 10) => toMessage({ role: "user", content: [block(tokens)], timestamp: 1 });
const answer = (calls: readonly string[] = [], { stopReason = "stop", tokens = 10 } = {}) => {
  const content = [block(tokens), ...calls.map((id) => ({ type: "toolCall", id, name: "read", arguments: {} }))];
  return toMessage({ role: "assistant", content, usage: emptyUsage(), stopReason, timestamp: 1 });
};
const result = (id: string, tokens: number, more: object = {}) =>
  toMessage({
    role: "toolResult",
    toolCallId: id,
    toolName: "read",
    content: [block(tokens)],
    isError: false,
    timestamp: 1,
    ...more,
  });

/** Turns with calls, some prompts between them, and some failed answers. */
const turn = fc.record({
  prompt: fc.boolean(),
  results: fc.array(fc.oneof(fc.nat(200), fc.integer({ min: 500, max: 15_000 })), { maxLength: 3 }),
  failed: fc.integer({ min: 0, max: 9 }).map((chance) => chance === 0),
});
const transcripts = fc.array(turn, { minLength: 1, maxLength: 25, size: "max" }).map((turns) =>
  turns.flatMap(({ prompt, results, failed }, index) => {
    const ids = results.map((_tokens, which) => `${index}.${which}`);
    return [
      ...(prompt || index === 0 ? [user()] : []),
      ...(failed ? [answer([], { stopReason: "error" })] : []),
      answer(ids),
      ...results.map((tokens, which) => result(ids[which]!, tokens, { isError: which === 2, details: { which } })),
    ];
  }),
);
const choices = fc.record({ enabled: fc.constant(true), keepRecentTokens: fc.constantFrom(0, 4_000, 20_000, 40_000) });

const getText = (message: AgentMessage | undefined) =>
  message?.role === "toolResult" && message.content[0]?.type === "text" ? message.content[0].text : undefined;

describe("old results", () => {
  const old = [user(), answer(["1"]), result("1", 9_000), answer(["2"]), result("2", 22_000), answer(["3"])];

  test("are replaced by a note that names the tool; everything else stays", () => {
    const image = { type: "image", data: "AAAA", mimeType: "image/png" };
    const messages = [...old];
    messages[2] = result("1", 0, { content: [block(8_000), image], details: { lines: 3 }, isError: true });
    const pruned = pruneMessages(messages, settings);
    expect(getText(pruned[2])?.slice(0, 200)).toBe(
      "[This old result of read was left out. If you need it, make the call again.]",
    );
    expect(pruned[2]).toEqual({ ...messages[2], content: [{ type: "text", text: getText(pruned[2]) }] });
    expect(pruned.filter((message, index) => message !== messages[index])).toEqual([pruned[2]]);
  });

  test("with only an image are replaced too, and those shorter than the note stay", () => {
    const image = result("0", 0, { content: [{ type: "image", data: "AAAA", mimeType: "image/png" }] });
    const short = result("s", 15);
    const pruned = pruneMessages([image, short, ...old], settings);
    expect(getText(pruned[0])).toMatch(/left out/);
    expect(pruned[1]).toBe(short);
  });

  test("are all sent if pruning is disabled or the context is small", () => {
    expect(pruneMessages(old, { ...settings, enabled: false })).toBe(old);
    const small = [user(), answer(["1"]), result("1", 10_000), answer(["2"]), result("2", 19_000), answer()];
    expect(estimateAll(small)).toBeLessThan(20_000 + step);
    expect(pruneMessages(small, settings)).toBe(small);
  });

  test("are sent at least once, however large their turn is", () => {
    const ids = ["1", "2", "3", "4", "5", "6"];
    const waiting = [user(), answer(ids), ...ids.map((id) => result(id, 25_000))];
    expect(pruneMessages(waiting, settings)).toBe(waiting);
    expect(pruneMessages(waiting, { ...settings, keepRecentTokens: 0 })).toBe(waiting);
    const failed = [...waiting, answer([], { stopReason: "error" }), answer([], { stopReason: "aborted" })];
    expect(pruneMessages(failed, settings)).toBe(failed);
    const answered = pruneMessages([...waiting, answer()], settings);
    expect(answered.map((message) => /left out/.test(getText(message) ?? ""))).toEqual(
      [false, false, true, true, true, true, true, false, false].slice(0, answered.length),
    );
  });

  test("with invalid content are left out as well", () => {
    const invalid = [
      result("1", 0, { content: "x".repeat(20_000), toolName: 7 }),
      result("2", 0, { content: undefined }),
      result("3", 0, { content: [null, 5, { type: "text" }, block(5_000)] }),
    ];
    const pruned = pruneMessages([...invalid, ...old], settings);
    expect(getText(pruned[0])).toBe("[This old result was left out. If you need it, make the call again.]");
    expect(pruned[1]).toBe(invalid[1]);
    expect(getText(pruned[2])).toMatch(/left out/);
  });
});

describe("the boundary", () => {
  test("moves by half of what is kept, and by at least 8,000 tokens", () => {
    expect(pruneStep({ enabled: true, keepRecentTokens: 40_000 })).toBe(20_000);
    expect(pruneStep({ enabled: true, keepRecentTokens: 0 })).toBe(8_000);
    expect(pruneStep({ enabled: true, keepRecentTokens: Number.NaN })).toBe(8_000);
  });

  test("only moves forward while a transcript grows, and moves rarely", () => {
    let moves = 0;
    fc.assert(
      fc.property(transcripts, choices, (messages, chosen) => {
        const boundaries = messages.map((_message, index) => pruneBoundary(messages.slice(0, index + 1), chosen));
        expect(boundaries).toEqual([...boundaries].sort((a, b) => a - b));
        const different = new Set(boundaries).size;
        expect(different).toBeLessThanOrEqual(estimateAll(messages) / pruneStep(chosen) + 1);
        moves += different - 1;
      }),
      { numRuns: 40 },
    );
    expect(moves).toBeGreaterThan(50);
  });

  test("changes the beginning of a request only when it moves", () => {
    fc.assert(
      fc.property(transcripts, choices, (messages, chosen) => {
        for (let length = 1; length < messages.length; length++) {
          const before = messages.slice(0, length);
          const after = messages.slice(0, length + 1);
          if (pruneBoundary(before, chosen) !== pruneBoundary(after, chosen)) continue;
          expect(pruneMessages(after, chosen).slice(0, length)).toEqual(pruneMessages(before, chosen));
        }
      }),
      { numRuns: 40 },
    );
  });
});

describe("pruning", () => {
  test("replaces all results before the boundary, and nothing else", () => {
    let touched = 0;
    fc.assert(
      fc.property(transcripts, choices, (messages, chosen) => {
        const pruned = pruneMessages(messages, chosen);
        const boundary = pruneBoundary(messages, chosen);
        expect(pruned).toHaveLength(messages.length);
        const total = estimateAll(messages);
        let end = 0;
        messages.forEach((message, index) => {
          end += estimateTokens(message);
          const isOld = end <= boundary && message.role === "toolResult";
          // The note has about 20 tokens.
          if (isOld && estimateTokens(message) > 25) expect(getText(pruned[index])).toMatch(/left out/);
          if (!isOld || total - end < chosen.keepRecentTokens) expect(pruned[index]).toBe(message);
          else if (pruned[index] !== message) touched++;
        });
        if (pruned.every((message, index) => message === messages[index])) expect(pruned).toBe(messages);
        if (total < chosen.keepRecentTokens + pruneStep(chosen)) expect(pruned).toBe(messages);
      }),
      { numRuns: 40 },
    );
    expect(touched).toBeGreaterThan(50);
  });

  test("keeps every call and result, and never makes a request longer", () => {
    const listCalls = (messages: readonly AgentMessage[]) =>
      messages.flatMap((message) =>
        message.role === "toolResult"
          ? [`result ${message.toolCallId} ${message.isError} ${JSON.stringify(message.details)}`]
          : message.role === "assistant"
            ? message.content.flatMap((block) => (block.type === "toolCall" ? [`call ${block.id}`] : []))
            : [],
      );
    fc.assert(
      fc.property(transcripts, choices, (messages, chosen) => {
        const pruned = pruneMessages(messages, chosen);
        expect(listCalls(pruned)).toEqual(listCalls(messages));
        expect(estimateAll(pruned)).toBeLessThanOrEqual(estimateAll(messages));
      }),
      { numRuns: 40 },
    );
  });

  test("is the same after a restart, and does not change its input", () => {
    fc.assert(
      fc.property(transcripts, choices, (messages, chosen) => {
        const stored = JSON.stringify(messages);
        const pruned = pruneMessages(messages, chosen);
        expect(pruneMessages(JSON.parse(stored) as AgentMessage[], chosen)).toEqual(pruned);
        expect(JSON.stringify(messages)).toBe(stored);
        pruneMessages(messages, chosen).forEach((message, index) => expect(message).toBe(pruned[index]));
      }),
      { numRuns: 40 },
    );
  });

  test("does not depend on earlier calls, for other branches or with other settings", () => {
    const shared = [user(), answer(["1"]), result("1", 9_000), answer(["2"])];
    const long = [...shared, result("2", 25_000), answer()];
    const short = [...shared, result("2", 900), answer(["3"]), result("3", 25_000), answer()];
    const copy = (messages: readonly AgentMessage[]) => JSON.parse(JSON.stringify(messages)) as AgentMessage[];
    pruneMessages(long, settings);
    expect(pruneMessages(short, settings)).toEqual(pruneMessages(copy(short), settings));
    fc.assert(
      fc.property(transcripts, transcripts, choices, choices, fc.nat(40), (first, second, chosen, other, length) => {
        const branch = [...first.slice(0, length), ...second];
        pruneMessages(branch, other);
        pruneMessages(first, chosen);
        expect(pruneMessages(branch, chosen)).toEqual(pruneMessages(copy(branch), chosen));
      }),
      { numRuns: 40 },
    );
  });

  test("is done again if the content of a message was replaced", () => {
    const messages = [user(), answer(["1"]), result("1", 9_000), answer(["2"]), result("2", 22_000), answer()];
    expect(pruneMessages(messages, settings)).not.toBe(messages);
    Object.assign(messages[4]!, { content: [block(10)] });
    expect(pruneMessages(messages, settings)).toBe(messages);
  });
});
