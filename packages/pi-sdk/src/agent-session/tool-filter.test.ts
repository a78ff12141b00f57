import { expect, test } from "vitest";
import { changeTools, createToolFilter, isToolChange } from "./tool-filter.ts";

test.each<[string[] | undefined, string[] | undefined, string[]]>([
  [undefined, undefined, ["read", "bash", "mcp__docs__find"]],
  [["read"], undefined, ["read"]],
  [["mcp__*"], undefined, ["mcp__docs__find"]],
  [["*"], ["*a*"], ["mcp__docs__find"]],
  [[], undefined, []],
])("allowed %j without %j leaves %j", (allowed, excluded, left) => {
  const isAllowed = createToolFilter(allowed, excluded);
  expect(["read", "bash", "mcp__docs__find"].filter((name) => isAllowed(name))).toEqual(left);
});

test("a list names tools or changes the default ones, but not both", () => {
  expect(isToolChange(["read", "bash"])).toBe(false);
  expect(isToolChange([])).toBe(false);
  expect(isToolChange(["+grep", "-bash"])).toBe(true);
  expect(changeTools(["read", "bash"], ["+grep", "-bash", "+read"])).toEqual(["read", "grep"]);
  expect(() => isToolChange(["read", "+grep"])).toThrow("not both");
});
