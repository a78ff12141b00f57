import { expect, test } from "vitest";
import { createNameMatcher, findUnknownTools, resolveDefaultTools } from "./tool-patterns.ts";

test.each([
  [["read"], "read", true],
  [["read"], "read_all", false],
  [["*grep*"], "grep", true],
  [["*grep*"], "my_grep_2", true],
  [["*"], "anything", true],
  [["mcp__*"], "mcp", false],
  [["READ"], "read", false],
  [[], "read", false],
] as const)("of the names %j has %s: %s", (patterns, name, isIn) => {
  expect(createNameMatcher(patterns)(name)).toBe(isIn);
});

test("a name or a pattern that fits nothing is told with the nearest name", () => {
  expect(findUnknownTools(["mcp__docs__*", "mcp__docs__read"], ["read"])).toEqual([]);
  expect(findUnknownTools(["raed", "*gerp*", "ls", "l*"], ["read", "grep", "ls"])).toEqual([
    'There is no tool "raed". Did you mean "read"?',
    'No tool matches "*gerp*". Did you mean "grep"?',
  ]);
});

test.each([
  [[undefined, undefined], "read bash"],
  [[["grep"], undefined], "grep"],
  [[[], undefined], ""],
  [[["+grep", "-bash"], undefined], "read grep"],
  [
    [
      ["grep", "ls"],
      ["+find", "-ls"],
    ],
    "grep find",
  ],
  [[["grep"], ["read"]], "read"],
  [[["read", "+ls", "-read"], null], "ls"],
] as const)("the lists %j make %s of the defaults", (lists, expected) => {
  expect(resolveDefaultTools(lists, ["read", "bash"]).join(" ")).toBe(expected);
});
