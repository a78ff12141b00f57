import { expect, test } from "vitest";
import type { Model } from "./model.ts";
import { applyUsage, calculateCost, emptyUsage, roundCost } from "./usage.ts";

const model: Model = {
  id: "m",
  name: "m",
  api: "a",
  provider: "p",
  baseUrl: "",
  reasoning: false,
  input: ["text"],
  cost: {
    input: 1,
    output: 10,
    cacheRead: 0.1,
    cacheWrite: 1.25,
    tiers: [{ inputTokensAbove: 200_000, input: 2, output: 20, cacheRead: 0.2, cacheWrite: 2.5 }],
  },
  contextWindow: 1,
  maxTokens: 1,
};

test("prices are per million tokens", () => {
  const usage = { ...emptyUsage(), input: 100_000, output: 1_000_000 };
  expect(calculateCost(model, usage)).toMatchObject({ input: 0.1, output: 10, total: 10.1 });
});

test("above a tier's threshold the whole request is billed at the tier's rates, and cached tokens count", () => {
  const usage = { ...emptyUsage(), input: 100_000, cacheRead: 100_001 };
  expect(calculateCost(model, usage).input).toBeCloseTo(0.2, 10);
  expect(calculateCost(model, { ...usage, cacheRead: 100_000 }).input).toBeCloseTo(0.1, 10);
});

test("a one-hour cache write costs more than one of five minutes", () => {
  const usage = { ...emptyUsage(), cacheWrite: 100_000, cacheWrite1h: 40_000 };
  expect(calculateCost(model, usage).cacheWrite).toBeCloseTo((60_000 * 1.25 + 40_000 * 2) / 1e6, 10);
});

test("invalid token counts are ignored", () => {
  const usage = emptyUsage();
  applyUsage(usage, { input: 5, output: 3 }, model);
  applyUsage(usage, { input: Number.NaN, output: -1, cacheRead: "7", cacheWrite: Number.POSITIVE_INFINITY }, model);
  expect(usage).toMatchObject({ input: 5, output: 3, cacheRead: 0, cacheWrite: 0, totalTokens: 8 });
});

test("costs that are shown have no more digits than a billionth of a dollar", () => {
  expect([0.1 + 0.2, 0.0006650000000000001, 1 / 3, 0].map(roundCost)).toEqual([0.3, 0.000665, 0.333333333, 0]);
});

test("a price that the service reports is used instead of the prices of tokens", () => {
  const usage = emptyUsage();
  applyUsage(usage, { input: 1_000_000, cost: 0.04 }, model);
  expect(usage.cost).toMatchObject({ input: 2, total: 0.04 });
  for (const cost of [-1, Number.NaN, "0.1"]) {
    applyUsage(usage, { cost }, model);
    expect(usage.cost.total).toBe(2);
  }
});

test("the prices of a dearer service are multiplied, also in the total", () => {
  const usage = emptyUsage();
  applyUsage(usage, { input: 1_000_000, priceFactor: 2.5 }, model);
  expect(usage.cost).toMatchObject({ input: 5, total: 5 });
});
