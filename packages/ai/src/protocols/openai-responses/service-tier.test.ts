import { expect, test } from "vitest";
import { getPriceFactor } from "./service-tier.ts";

test.each([
  ["gpt-6.1-sol", "priority", 2],
  ["gpt-5.5", "priority", 2.5],
  ["gpt-5-mini", "priority", 1.8],
  ["gpt-5", "priority", 2],
  ["gpt-5", "flex", 0.5],
  ["gpt-5", "default", 1],
  ["gpt-5", undefined, 1],
])("%s in the tier %s costs %s times as much", (model, tier, factor) => {
  expect(getPriceFactor(model, tier)).toBe(factor);
});
