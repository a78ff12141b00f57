import { expect, test } from "vitest";
import { formatAge, formatTokens, pluralise } from "./format.ts";

test("tokens are rounded", () => {
  expect([512, 1_500, 200_000, 1_000_000].map(formatTokens)).toEqual(["512", "1.5k", "200k", "1.0M"]);
});

test.each([
  [-5, "now"],
  [59, "now"],
  [300, "5 min"],
  [3 * 3_600, "3 h"],
  [47 * 3_600, "1 d"],
  [31 * 86_400, "2026-01-01"],
])("%i seconds after a time it is %s", (seconds, expected) => {
  const timestamp = "2026-01-01T00:00:00.000Z";
  expect(formatAge(timestamp, Date.parse(timestamp) + seconds * 1_000)).toBe(expected);
});

test("something that is no time has no age", () => {
  expect(formatAge("yesterday", 0)).toBe("");
});

test("a noun is in the plural unless there is one", () => {
  expect([0, 1, 2].map((count) => pluralise(count, "job"))).toEqual(["0 jobs", "1 job", "2 jobs"]);
});
