import { expect, test } from "vitest";
import { toLine } from "./line.ts";

test.each([
  "\x1b_Ga=T,f=100,q=2,c=1,r=1;AAAA\x1b\\",
  "\x1b[2A\x1b]1337;File=inline=1;size=3:AAAA\x07",
  "\x1b]8;;https://example.org/ü\x07x\x1b]8;;\x07",
])("%j is written as it is", (text) => {
  expect(toLine(text, 80).text).toBe(text);
});

test.each([
  ["a command of Kitty without an end", "\x1b_Ga=T;AAAA", "_Ga=T;AAAA"],
  ["one that BEL ends, which it does not in a terminal", "\x1b_Ga=T;AAAA\x07x", "x"],
  ["one that another sequence cuts off", "\x1b_Ga=T;AA\x1b[1mx", "\x1b[1mx\x1b[0m"],
  ["one that a character of 8 bits would end", "\x1b_Ga=T;AA\u009c\u009b2J\x1b\\x", "x"],
  ["another command of iTerm2", "\x1b]1337;Copy=:aGk=\x07x", "x"],
  ["a link that a character of 8 bits would end", "\x1b]8;;http://x\u009c\u009b2J\x07x\x1b]8;;\x07", "x"],
  ["a style with such a character", "\x1b[31\u009b2J;1m\x1b[1mx", "[312J;1m\x1b[1mx\x1b[0m"],
])("%s does not reach the terminal", (_what, text, expected) => {
  expect(toLine(text, 80).text).toBe(expected);
});
