import fc from "fast-check";
import { expect, test } from "vitest";
import type { Failure } from "../failure.ts";
import { getRetryDelay } from "./retry.ts";

const limits = { maxRetries: 3, maxDelayMs: 60_000 };
const limited = (retryAfterMs?: number): Failure => ({
  kind: "rate_limited",
  message: "",
  ...(retryAfterMs !== undefined && { retryAfterMs }),
});

test("a delay that the provider asks for is used exactly, up to the maximum", () => {
  expect(getRetryDelay(limited(7_000), 0, limits, () => 0.5)).toBe(7_000);
  expect(getRetryDelay(limited(0), 0, limits, () => 0.5)).toBe(0);
  expect(getRetryDelay(limited(60_001), 0, limits, () => 0.5)).toBeUndefined();
  expect(getRetryDelay(limited(86_400_000), 0, { ...limits, maxDelayMs: 0 }, () => 0.5)).toBe(86_400_000);
});

test("otherwise the delay doubles with each attempt, and half of it is random", () => {
  expect([0, 1, 2].map((attempt) => getRetryDelay(limited(), attempt, limits, () => 0))).toEqual([250, 500, 1_000]);
  expect([0, 1, 2].map((attempt) => getRetryDelay(limited(), attempt, limits, () => 1))).toEqual([500, 1_000, 2_000]);
});

test("the number of retries is limited, and failures that cannot succeed later are not retried", () => {
  expect(getRetryDelay(limited(), 3, limits, () => 0)).toBeUndefined();
  expect(getRetryDelay({ kind: "auth", message: "" }, 0, limits, () => 0)).toBeUndefined();
});

test("no delay exceeds the maximum", () => {
  fc.assert(
    fc.property(
      fc.nat(20),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      fc.integer({ min: 1, max: 100_000 }),
      (attempt, randomValue, maxDelayMs) => {
        const delay = getRetryDelay(limited(), attempt, { maxRetries: 100, maxDelayMs }, () => randomValue);
        expect(delay).toBeLessThanOrEqual(maxDelayMs);
      },
    ),
  );
});
