import fc from "fast-check";
import { expect, test } from "vitest";
import { mergeLines } from "./merge-lines.ts";

const toText = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join("");

test.each([
  ["changes of different lines are joined", "a b c d e", "A b c d e", "a b c d E", "A b c d E"],
  ["equal changes are made once", "a b c", "a X c", "a X c", "a X c"],
  ["a line that is added beside nothing else stays", "a b c d", "a b c d e", "x a b c d", "x a b c d e"],
  ["the same line in two ways is a conflict", "a b c", "a X c", "a Y c", undefined],
  ["lines that follow each other are a conflict", "a b c", "X b c", "a Y c", undefined],
  ["additions at the same place are a conflict", "a b", "a x b", "a y b", undefined],
  ["a removal and a change of it are a conflict", "a b c", "a c", "a X c", undefined],
])("%s", (_name, base, ours, theirs, merged) => {
  const [b, o, t] = [base, ours, theirs].map((words) => toText(words.split(" "))) as [string, string, string];
  expect(mergeLines(b, o, t)).toBe(merged === undefined ? undefined : toText(merged.split(" ")));
});

test("a last line without an end stays without one", () => {
  expect(mergeLines("a\nb\nc\nd", "A\nb\nc\nd", "a\nb\nc\nD")).toBe("A\nb\nc\nD");
});

test("who changes nothing gets the text of the other, and both sides are alike", () => {
  const texts = fc.array(fc.constantFrom("a", "b", "c", ""), { maxLength: 8 }).map(toText);
  fc.assert(
    fc.property(texts, texts, texts, (base, ours, theirs) => {
      expect(mergeLines(base, base, theirs)).toBe(theirs);
      expect(mergeLines(base, ours, base)).toBe(ours);
      expect(mergeLines(base, ours, ours)).toBe(ours);
      expect(mergeLines(base, ours, theirs)).toBe(mergeLines(base, theirs, ours));
    }),
  );
});
