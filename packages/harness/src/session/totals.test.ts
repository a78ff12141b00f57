import { emptyUsage } from "@tau/ai";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { SessionEntry } from "./entry.ts";
import { countEntry, emptyTotals, isCountedRows, type SessionTotals } from "./totals.ts";

const entry = (value: unknown): SessionEntry =>
  ({ id: "1", parentId: null, timestamp: "2026-01-01T00:00:00.000Z", ...(value as object) }) as SessionEntry;
const message = (value: object) => entry({ type: "message", message: value });
const usage = (input: number, output: number, cacheRead: number, cost: number) => ({
  ...emptyUsage(),
  input,
  output,
  cacheRead,
  totalTokens: input + output + cacheRead,
  cost: { ...emptyUsage().cost, total: cost },
});
const count = (entries: readonly SessionEntry[]) =>
  entries.reduce<SessionTotals>((totals, next) => countEntry(totals, next), emptyTotals);

/** Every number in it, however deep. */
const numbersIn = (value: unknown): number[] =>
  typeof value === "number" ? [value] : Object.values((value as object | undefined) ?? {}).flatMap(numbersIn);

/** Anything a log of somebody else's may have where a number, a message or a usage is due. */
const garbage = fc.oneof(
  fc.anything(),
  fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, -5, 1e300, "12", null, undefined, {}, []),
);
const anyUsage = fc.oneof(
  garbage,
  fc.record({ input: garbage, output: fc.nat(), cacheRead: fc.nat(), cacheWrite: garbage, totalTokens: garbage }),
  fc.record({
    input: fc.nat(),
    output: fc.nat(),
    cost: fc.record({ total: fc.oneof(garbage, fc.double({ min: 0 })) }),
  }),
);
const anyEntry = fc
  .oneof(
    fc.record({
      type: fc.constant("message"),
      message: fc.oneof(
        garbage,
        fc.record({
          role: fc.constantFrom("user", "assistant", "toolResult", "custom"),
          content: fc.oneof(garbage, fc.array(fc.record({ type: fc.constantFrom("text", "toolCall") }))),
          usage: anyUsage,
        }),
      ),
    }),
    fc.record({ type: fc.constantFrom("compaction", "branch_summary", "usage", "label", "custom"), usage: anyUsage }),
  )
  .map(entry);

describe("totals", () => {
  test("count messages, calls, tokens and dollars of everything that was paid for", () => {
    const stats = count([
      message({ role: "user", content: "hello" }),
      message({
        role: "assistant",
        content: [
          { type: "text", text: "Two files." },
          { type: "toolCall", id: "1" },
          { type: "toolCall", id: "2" },
        ],
        usage: usage(100, 20, 0, 0.5),
      }),
      message({ role: "toolResult", toolCallId: "1" }),
      message({ role: "toolResult", toolCallId: "2" }),
      message({ role: "bashExecution", command: "ls" }),
      message({ role: "assistant", content: [], usage: usage(20, 5, 120, 0.25) }),
      entry({ type: "compaction", summary: "s", usage: usage(10, 10, 0, 1) }),
      entry({ type: "branch_summary", summary: "s", usage: usage(10, 10, 0, 2) }),
      entry({ type: "usage", kind: "warm", usage: usage(0, 0, 20, 4) }),
      entry({ type: "custom", customType: "x", usage: usage(9, 9, 9, 9) }),
    ]);
    expect(stats).toEqual({
      messages: { user: 1, assistant: 2, toolResults: 2, toolCalls: 2 },
      tokens: { input: 140, output: 45, cacheRead: 140, cacheWrite: 0, total: 325 },
      cost: 7.75,
    });
  });

  test("are the same object when there is nothing to count", () => {
    expect(countEntry(emptyTotals, entry({ type: "label", targetId: "1" }))).toBe(emptyTotals);
    expect(countEntry(emptyTotals, message({ role: "user", content: "x" })).messages.user).toBe(1);
    expect(emptyTotals.messages.user).toBe(0);
  });

  test("add up what a provider did not", () => {
    const cost = { input: 1, output: 2, cacheRead: 0.5, cacheWrite: 0.5 };
    const parts = { input: 3, output: 4, cacheRead: 5, cacheWrite: 6, cost };
    const stats = count([message({ role: "assistant", usage: parts })]);
    expect(stats.tokens.total).toBe(18);
    expect(stats.cost).toBe(4);
  });

  test("counted in two parts are the totals of the whole, and no number in them is ever none", () => {
    fc.assert(
      fc.property(fc.array(anyEntry, { maxLength: 12 }), fc.nat(12), (entries, at) => {
        const whole = count(entries);
        const inTwo = entries.slice(at).reduce(countEntry, count(entries.slice(0, at)));
        expect(inTwo).toEqual(whole);
        for (const number of numbersIn(whole)) expect(Number.isFinite(number) && number >= 0).toBe(true);
        expect(count(JSON.parse(JSON.stringify(entries)) as SessionEntry[])).toEqual(whole);
        expect(isCountedRows({ rows: entries.length, totals: whole }, entries.length)).toBe(true);
      }),
      { numRuns: 400 },
    );
  });

  test("of an index are used only if every number can be a count", () => {
    const valid = { rows: 2, totals: emptyTotals };
    const withTokens = (input: unknown) => ({
      rows: 2,
      totals: { ...emptyTotals, tokens: { ...emptyTotals.tokens, input } },
    });
    expect(isCountedRows(valid, 2)).toBe(true);
    expect(isCountedRows(valid, 1)).toBe(false);
    for (const rows of [-1, 0.5, "1", undefined]) expect(isCountedRows({ ...valid, rows }, 2)).toBe(false);
    for (const input of [-1, "1", null, undefined, {}]) expect(isCountedRows(withTokens(input), 2)).toBe(false);
    for (const value of [undefined, null, {}, { rows: 0 }, { rows: 0, totals: {} }]) {
      expect(isCountedRows(value, 2)).toBe(false);
    }
  });
});
