import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fuzzyFilter, fuzzyMatch } from "./fuzzy.ts";

describe("a fuzzy match", () => {
  test.each<[string, string, number | undefined]>([
    ["", "abc", 0],
    ["a", "", undefined],
    ["a", "a", -115],
    ["a", "xxa", 0.2],
    ["a", "x-a", -9.8],
    ["ab", "axb", -12.8],
    ["abc", "abc", -139.7],
    ["abc", "xabc", -14.4],
    ["AB", "ab", -124.9],
    ["5gpt", "gpt-5", -42.3],
    ["ba", "ab", undefined],
  ])("%j in %j has the score %d", (query, text, score) => {
    const match = fuzzyMatch(query, text);
    expect(match.matches).toBe(score !== undefined);
    if (score !== undefined) expect(match.score).toBeCloseTo(score);
  });

  test("every text whose characters are those of the query in order, with others between, matches", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.string(), fc.string({ unit: "grapheme-ascii" }))), (parts) => {
        const query = parts.map(([, wanted]) => wanted).join("");
        expect(fuzzyMatch(query, parts.flat().join("")).matches).toBe(true);
      }),
    );
  });
});

test.each<[string, string[]]>([
  ["", ["apple", "foo/bar", "bar foo", "pineapple", "app"]],
  ["app", ["app", "apple", "pineapple"]],
  ["foo bar", ["foo/bar", "bar foo"]],
  ["bar/foo", ["foo/bar", "bar foo"]],
  ["xyz", []],
])("the filter %j keeps what matches all parts, best first", (query, expected) => {
  expect(fuzzyFilter(["apple", "foo/bar", "bar foo", "pineapple", "app"], query, (item) => item)).toEqual(expected);
});
