/** Titles are read out of whatever a model answers. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { parseTitle } from "../src/titles/parse-title.ts";

test.each([
  ["Fix the login page", "Fix the login page"],
  ["  \n\nFix it\nand more", "Fix it"],
  ['"Fix the login page."', "Fix the login page"],
  ["# Title: Fix it", "Fix it"],
  ["**Fix it**", "Fix it"],
  ["„Die Anmeldung“", "Die Anmeldung"],
  ["```\nFix it\n```", "Fix it"],
  ["Use C++ (not C#)", "Use C++ (not C#)"],
  ["", undefined],
  [' "" ', undefined],
  ["...", undefined],
])("the title in %j is %j", (answer, title) => {
  expect(parseTitle(answer)).toBe(title);
});

test("a title is one visible line of at most 61 characters, whatever the model answers", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 400 }), (answer) => {
      const title = parseTitle(answer);
      if (title === undefined) return;
      expect([...title].length).toBeLessThanOrEqual(61);
      // oxlint-disable-next-line no-control-regex -- what must not be in it
      expect(title).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e]/);
      expect(title.trim()).toBe(title);
    }),
  );
});

test("a long title is cut between words", () => {
  expect(parseTitle("word ".repeat(30))).toBe(`${"word ".repeat(11)}word…`);
  expect(parseTitle("x".repeat(99))).toBe(`${"x".repeat(60)}…`);
});
