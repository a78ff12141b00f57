import { describe, expect, test } from "vitest";
import { visibleWidth } from "./cells.ts";
import { removeUnwanted, toVisibleText } from "./plain.ts";

const blocks = [
  [0, 0x33ff],
  [0xf900, 0x1_ffff],
  [0xe_0000, 0xe_0fff],
] as const;

describe("toVisibleText", () => {
  test.each([
    ["rm my\u00adfile", "rm my\\u{ad}file"],
    ["a\u202egpj.exe", "a\\u{202e}gpj.exe"],
    ["ls\u{e0041}\u{e007f}", "ls\\u{e0041}\\u{e007f}"],
    ["rm\u3164-rf\u00a0/\u2800", "rm\\u{3164}-rf\\u{a0}/\\u{2800}"],
    ["a\ufe0fb\u034fc\u180ed", "a\\u{fe0f}b\\u{34f}c\\u{180e}d"],
    ["one\n\ttwo \x1b[2J", "one\\n\\ttwo \\u{1b}[2J"],
    ["日本語 e\u0301 ß 🎉", "日本語 e\u0301 ß 🎉"],
  ])("of %j is %s", (text, expected) => {
    expect(toVisibleText(text)).toBe(expected);
  });

  test("shows every character that is not written to the terminal, or takes no column there", () => {
    const isSeen = (character: string) =>
      removeUnwanted(character) !== "" && (visibleWidth(character) > 0 || /\p{M}/u.test(character));
    const missed: number[] = [];
    // The other blocks are ideographs, syllables and unassigned.
    for (const [first, last] of blocks) {
      for (let code = first; code <= last; code++) {
        const character = String.fromCodePoint(code);
        if (toVisibleText(character) === character && !isSeen(character)) missed.push(code);
      }
    }
    expect(missed).toEqual([]);
  });
});
