import { expect, test } from "vitest";
import { splitEscapes, stripTerminalSequences } from "./escape.ts";

test.each([
  ["a\x1b]0;title\x07b", "ab"],
  ["a\x1b]0;title\x1b\\b", "ab"],
  ["a\x1b[31mb", "ab"],
  // As in terminals: another sequence ends the string.
  ["a\x1b]0;title\x1b[31mb\x07", "ab\x07"],
  ["a\x1bPtmux;\x1b\x1b]52;c;aGk=\x07\x1b\\b", "a\x1bb"],
  // More could follow.
  ["a\x1b]0;title", "a\x1b]0;title"],
])("%j without sequences is %j", (text, expected) => {
  expect(stripTerminalSequences(text)).toBe(expected);
});

test("text between sequences has no escape character, so that no text is taken for a sequence", () => {
  expect(splitEscapes("\x1b[31\u009b2J;1m\x1b[1mx\x1b_Ga=T;AA")).toEqual([
    "[31\u009b2J;1m",
    "\x1b[1m",
    "x",
    "_Ga=T;AA",
  ]);
});

test("strings without an end take time that grows with the length of the text", () => {
  const before = process.cpuUsage();
  expect(stripTerminalSequences("\x1b]".repeat(20_000))).toBe("\x1b]");
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1_000).toBeLessThan(400);
});

test("a string without an end may be as long as a large file", () => {
  expect(stripTerminalSequences(`\x1b]${"a".repeat(10_000_000)}`)).toHaveLength(10_000_002);
});
