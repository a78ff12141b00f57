import { expect, test } from "vitest";
import { visibleWidth } from "../text/cells.ts";
import { stripTerminalSequences } from "../text/escape.ts";
import { compositeTuiLine } from "./composite.ts";

test.each([
  ["abcdefghij", "XX", 2, 2, 12, "abXXefghij  "],
  ["ab", "XX", 4, 2, 8, "ab  XX  "],
  ["", "X", 0, 3, 6, "X     "],
  ["abcd让EFGH", "│XX│", 5, 4, 12, "abcd │XX│H  "],
  ["abcd让EFGH", "│XX│", 4, 4, 12, "abcd│XX│GH  "],
  ["ab让cd", "XX", 1, 2, 8, "aXX cd  "],
  ["abcdefghij", "XXXX", 8, 4, 10, "abcdefghXX"],
])("%j with %j at %i is as wide as it is asked to be, and no character is cut in two", (...values) => {
  const [base, overlay, start, width, total, expected] = values;
  const line = compositeTuiLine(base, overlay, start, width, total);
  expect([stripTerminalSequences(line), visibleWidth(line)]).toEqual([expected, total]);
});

test("the style of a line that ends does not go on behind it", () => {
  expect(compositeTuiLine("\x1b[41mabcd", "X", 0, 1, 6)).toMatch(/\x1b\[0m[^m]* {2}$/);
});
