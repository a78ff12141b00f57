import fc from "fast-check";
import { Lexer } from "marked";
import { expect, test } from "vitest";
import { isPlainLine, toPlainTokens } from "./plain-line.ts";

const piece = fc.oneof(
  fc.constantFrom("word", "a", "http", "www", "mailto", "1", "23", " ", "  ", "    ", "I'm", "don't", "x=y", "50%"),
  fc.constantFrom(".", ",", ";", "!", "?", "(", ")", '"', "'", "/", "+", "-", "=", "--", "==", "...", ". "),
  fc.constantFrom(
    "*",
    "_",
    "`",
    "[",
    "]",
    "<",
    ">",
    "#",
    ":",
    "@",
    "&",
    "\\",
    "|",
    "~",
    "\n",
    "\t",
    "\u00e9",
    "^",
    "{",
  ),
);

test("a plain line is what the lexer makes of it", () => {
  let count = 0;
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 7 }), (pieces) => {
      const source = pieces.join("");
      if (!isPlainLine(source)) return;
      count++;
      expect(toPlainTokens(source)).toEqual([...new Lexer({ gfm: true }).lex(source)]);
    }),
    { numRuns: 5_000 },
  );
  expect(count).toBeGreaterThan(100);
});

test.each(["What does this do? It seems (to me) 50% too slow, doesn't it.", "12 words", "Run it", "e.g. a/b.ts"])(
  "%j is a plain line",
  (source) => expect(isPlainLine(source)).toBe(true),
);

test.each([
  "",
  "1. one",
  "- one",
  "# one",
  "a *b*",
  "a\nb",
  "www.a.b",
  "a@b.c",
  "http://a",
  "&amp;",
  " a",
  "12)",
  "a\\b",
])("%j is none", (source) => expect(isPlainLine(source)).toBe(false));
