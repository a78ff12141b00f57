import fc from "fast-check";
import { expect, test } from "vitest";
import { matchWildcards } from "./wildcards.ts";

const matches = (pattern: string, text: string) =>
  matchWildcards(
    [...pattern],
    [...text],
    (part) => part === "*",
    (part, character) => part === "?" || part === character,
  );

test.each([
  ["", "", true],
  ["", "a", false],
  ["*", "", true],
  ["a*c", "abbc", true],
  ["a*c", "abcb", false],
  ["*ab*ab", "abab", true],
  ["a?", "a", false],
  ["a**", "a", true],
])("%j matches %j: %j", (pattern, text, expected) => {
  expect(matches(pattern, text)).toBe(expected);
});

test("it matches what the same pattern matches as a regular expression", () => {
  const pattern = fc.string({ unit: fc.constantFrom("a", "b", "*", "?"), maxLength: 8 });
  const text = fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 12 });
  fc.assert(
    fc.property(pattern, text, (glob, subject) => {
      const expression = new RegExp(`^${glob.replaceAll("*", ".*").replaceAll("?", ".")}$`);
      expect(matches(glob, subject)).toBe(expression.test(subject));
    }),
  );
});
