import { expect, test } from "vitest";
import { listReachedTools } from "../../src/codemode/reach.ts";

test.each([
  ["await tools.mcp__docs__search({ q: 'x' })", ["await", "tools", "mcp__docs__search", "q", "x"]],
  ["", []],
  ["return ALL_TOOLS", "all"],
  ["await searchTools('docs')", "all"],
  ["await describeNamespace('docs')", "all"],
])("the script %j reaches %j", (code, expected) => {
  expect(listReachedTools(code)).toEqual(expected);
});
