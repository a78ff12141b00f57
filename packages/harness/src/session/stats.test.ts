import { expect, test } from "vitest";
import { emptyTotals } from "./totals.ts";
import { getCacheHitRate, getContextUse } from "./stats.ts";

test("the part that came from a cache is one of all prompt tokens, and 0 as long as there were none", () => {
  const withTokens = (input: number, cacheRead: number, cacheWrite: number) => ({
    ...emptyTotals,
    tokens: { input, output: 1_000, cacheRead, cacheWrite, total: 0 },
  });
  expect(getCacheHitRate(withTokens(140, 140, 0))).toBe(0.5);
  expect(getCacheHitRate(withTokens(10, 60, 30))).toBe(0.6);
  expect(getCacheHitRate(emptyTotals)).toBe(0);
});

test("a window of unknown size has no use", () => {
  expect(getContextUse(50, 200)).toEqual({ tokens: 50, contextWindow: 200, percent: 25 });
  expect(getContextUse(10, 0)).toBeUndefined();
  expect(getContextUse(10, Number.NaN)).toBeUndefined();
  expect(getContextUse(Number.NaN, 100)).toEqual({ tokens: 0, contextWindow: 100, percent: 0 });
});
