import { expect, test } from "vitest";
import { parseStatsArgument } from "./stats.ts";

test.each([
  ["", {}],
  ["model", { by: "model" }],
  ["7d", { since: "7d" }],
  [" 7d  tool ", { by: "tool", since: "7d" }],
  ["2026-03-01 project 2026-03-31", { by: "project", since: "2026-03-01", until: "2026-03-31" }],
])("/stats %s", (argument, params) => {
  expect(parseStatsArgument(argument)).toEqual(params);
});

test("a third day is an error that says how it is written", () => {
  expect(() => parseStatsArgument("1d 2d 3d")).toThrow("/stats model 7d");
});
