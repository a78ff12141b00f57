import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { foldText } from "./fold.ts";
import { getExcerpt, parseQuery } from "./query.ts";
import { SegmentBuilder, Segment } from "./segment.ts";
import { isWordStart, visitWords } from "./words.ts";

const matches = (text: string, query: string) => getExcerpt(text, parseQuery(query)) !== undefined;

test.each([
  ["the parser failed", "parser", true],
  ["the parser failed", "pars", true],
  ["the parser failed", "arser", false],
  ["the parser failed", "failed parser", true],
  ["the parser failed", "parser lexer", false],
  ["the parser failed", '"parser failed"', true],
  ["the parser failed", '"failed parser"', false],
  ["the parser\n   failed", '"parser failed"', true],
  ["the parser failed", '"the pars', true],
  ["sessionDirectory", "directory", true],
  ["sessionDirectory", "sessiondir", true],
  ["getHTTPServer", "http", true],
  ["getHTTPServer", "server", true],
  ["getHTTPServer", "erver", false],
  ["snake_case_name", "case", true],
  ["snake_case_name", "snake_case", true],
  ["run it with --session-dir DIR", "--session", true],
  ["run it with --session-dir DIR", "session-dir", true],
  ["packages/tools/src/index.ts", "tools/src/ind", true],
  ["packages/tools/src/index.ts", ".ts", true],
  ["Café in ZÜRICH", "cafe zurich", true],
  ["Cafe in Zurich", "café zürich", true],
  ["ΟΔΟΣ", "οδος", true],
  ["会话搜索很有用", "搜索", true],
  ["会话搜索很有用", "用搜", false],
  ["한국어 검색", "검색", true],
  ["utf8 and v2Handler", "handler", true],
  [`${"aB".repeat(40)}Needle`, "needle", false],
  ["nothing", "!", false],
  ["done!", "!", true],
])("%j with the query %j matches: %j", (text, query, expected) => {
  expect(matches(text, query)).toBe(expected);
});

test.each(["", "  ", '""', '" "', "\u0301"])(
  "the query %j is refused, because there is nothing to search for",
  (text) => {
    expect(() => parseQuery(text)).toThrow(/nothing to search for/);
  },
);

describe("an excerpt", () => {
  const show = (text: string, query: string) => {
    const { text: line, marks } = getExcerpt(text, parseQuery(query))!;
    return marks.reduceRight(
      (shown, [start, end]) => `${shown.slice(0, start)}[${shown.slice(start, end)}]${shown.slice(end)}`,
      line,
    );
  };

  test("marks all terms in the original text", () => {
    expect(show("Der  Café-Besitzer\nkam.", "kam cafe")).toBe("Der [Café]-Besitzer [kam].");
    expect(show("Cafe\u0301s", "cafe")).toBe("[Cafe\u0301]s");
    expect(show("aaaa", "aa a")).toBe("[aa]aa");
  });

  test("shows the surroundings of the first match in a long text", () => {
    const shown = show(`${"x ".repeat(500)}needle${" y".repeat(500)}`, "needle");
    expect(shown).toMatch(/^…(x )+\[needle\]( y)+ ?…$/);
    expect(shown.length).toBeLessThan(200);
  });

  test("never cuts a character, and its marks are what the terms match", () => {
    const piece = fc.constantFrom(
      "é",
      "e\u0301",
      "한",
      "İ",
      "ß",
      "ﬁ",
      "😀",
      "word",
      "Word",
      " ",
      "\n",
      "漢字",
      ".",
      "Σ",
    );
    const text = fc.array(piece, { maxLength: 150 }).map((parts) => `${parts.join("")} needle`);
    fc.assert(
      fc.property(text, (line) => {
        const { text: shown, marks } = getExcerpt(line, parseQuery("needle"))!;
        expect(shown.isWellFormed()).toBe(true);
        expect(marks.map(([start, end]) => shown.slice(start, end))).toEqual(["needle"]);
      }),
    );
  });
});

const anyText = fc.string({
  unit: fc.oneof(fc.constantFrom(..."aAbB1._- é漢한"), fc.string({ unit: "binary", minLength: 1, maxLength: 1 })),
});

test("folding keeps the length of a text that has no accents any more", () => {
  fc.assert(fc.property(anyText, (text) => foldText(text).flat.length === foldText(text).lower.length));
});

test("a word begins where the words of a text are visited, and nowhere else", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const { flat } = foldText(text);
      const visited: number[] = [];
      visitWords(flat, (start) => visited.push(start));
      const starts = Array.from(flat, (_unused, index) => index);
      for (let index = starts.length; index < flat.length; index++) starts.push(index);
      const isWord = (index: number) => /[\p{L}\p{N}]/u.test(flat.charAt(index));
      expect(visited).toEqual(starts.filter((index) => isWord(index) && isWordStart(flat, index)));
    }),
  );
});

test("a segment finds every text that matches, for any part of a text as a query", () => {
  fc.assert(
    fc.property(
      fc.array(anyText, { minLength: 1, maxLength: 30 }),
      fc.nat(),
      fc.nat(),
      fc.nat(),
      (texts, ...numbers) => {
        const builder = new SegmentBuilder(7);
        for (const [index, text] of texts.entries()) builder.add({ offset: 10 + index * 3, length: 2 }, text);
        const log = { identity: "1:2", size: 3, modifiedMs: 4 };
        const bytes = builder.encode({ log, end: 9, tail: 0, models: [], cost: 0, firstMs: 0, lastMs: 0 });
        const segment = Segment.read(Buffer.concat([Buffer.alloc(5), bytes]), 5)!;
        const source = texts[numbers[0]! % texts.length]!;
        const start = numbers[1]! % (source.length + 1);
        const part = source.slice(start, start + 1 + (numbers[2]! % 12)).replaceAll('"', "");
        fc.pre(foldText(part).lower.trim() !== "");
        const query = parseQuery(`"${part}"`);
        const found = new Set(segment.find(query).map(({ offset }) => (offset - 10) / 3));
        for (const [index, text] of texts.entries()) if (getExcerpt(text, query)) expect(found).toContain(index);
      },
    ),
  );
});

test("a segment with one changed bit is not read", () => {
  const builder = new SegmentBuilder(0);
  builder.add({ offset: 0, length: 9 }, "some words of a text");
  const log = { identity: "1:2", size: 3, modifiedMs: 4 };
  const bytes = builder.encode({ log, end: 9, tail: 0, models: [], cost: 0, firstMs: 0, lastMs: 0 });
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const changed = Buffer.from(bytes);
    changed[bit >> 3]! ^= 1 << (bit & 7);
    expect(Segment.read(changed, 0)).toBeUndefined();
  }
});
