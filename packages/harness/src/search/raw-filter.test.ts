import fc from "fast-check";
import { expect, test } from "vitest";
import type { SessionEntry } from "../session/entry.ts";
import { getExcerpt, parseQuery } from "./query.ts";
import { createRawFilter } from "./raw-filter.ts";
import { getSearchText } from "./search-text.ts";

/** A message as a log has it, with a block for each text. */
const toEntry = (texts: readonly string[]) =>
  ({
    type: "message",
    id: "1",
    parentId: null,
    timestamp: "2026-01-01T00:00:00.000Z",
    message: { role: "user", content: texts.map((text) => ({ type: "text", text })) },
  }) as unknown as SessionEntry;

const toLine = (entry: SessionEntry) => Buffer.from(JSON.stringify(entry));

/** Whatever may become an ASCII letter, white space or an escape. */
const unit = fc.constantFrom(..."aAbé. \n\t\r\f\v\"'\\/(*[]{}^$|漢İKſ\u00A0\u2028\u0301\u001b\ud800", "A\u030A", "Å");
const anyText = fc.string({ unit, maxLength: 12 });

test("no entry is left out that matches, for any part of its text as a phrase", () => {
  let matching = 0;
  fc.assert(
    fc.property(fc.array(anyText, { minLength: 1, maxLength: 3 }), fc.nat(), fc.nat(), (texts, from, length) => {
      const entry = toEntry(texts);
      const text = texts.join("\n");
      const start = from % (text.length + 1);
      const part = text.slice(start, start + 1 + (length % 12)).replaceAll('"', "");
      fc.pre(/\S/.test(part.normalize("NFD").replace(/\p{M}/gu, "")));
      const query = parseQuery(`"${part}"`);
      const found = getSearchText(entry);
      if (!found || !getExcerpt(found.text, query)) return;
      matching++;
      expect(createRawFilter(query)(toLine(entry))).toBe(true);
    }),
    { numRuns: 3_000 },
  );
  expect(matching).toBeGreaterThan(500);
});

test.each([
  ["the words are apart", ["the old session of it"], '"the session of"', false],
  ["they are there", ['say "The\n\tSESSION of"'], '"the session of"', true],
  ["they have accents", ["thé sessión of"], '"the session of"', true],
  ["they are in two strings", ["it was the session", "of the day"], '"the session of"', true],
  ["a string ends as the phrase begins, and has to be looked into", ["it was the", "other"], '"the session of"', true],
  ["signs of expressions are signs", ["a.b(c) [x]"], '"b(c) [x]"', true],
  ["and nothing else", ["a-b-c"], '"a.b"', false],
  ["a letter may be escaped", ["\u001b the"], '"the session"', true],
] as const)("an entry is looked into or not: %s", (_name, texts, query, expected) => {
  expect(createRawFilter(parseQuery(query))(toLine(toEntry(texts)))).toBe(expected);
});
