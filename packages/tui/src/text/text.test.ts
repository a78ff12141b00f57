/** Laws of text in columns. Expected widths are those of a terminal emulator: see `test/widths.test.ts`. */
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { getStandaloneCell, toCells, visibleWidth } from "./cells.ts";
import { stripTerminalSequences } from "./escape.ts";
import { sliceByColumn, sliceWithWidth } from "./slice.ts";
import { truncateToWidth } from "./truncate.ts";
import { wrapTextWithAnsi } from "./wrap.ts";

const red = "\x1b[31m";
const reset = "\x1b[0m";
const link = "\x1b]8;;http://x\x07";
const linkEnd = "\x1b]8;;\x07";
const stLink = "\x1b]8;;http://x\x1b\\";
const stLinkEnd = "\x1b]8;;\x1b\\";

const pieces = [
  "a",
  "word",
  " ",
  "   ",
  "日本語",
  "👨‍👩‍👧",
  "e\u0301",
  "\u200b",
  "\t",
  red,
  reset,
  "\x1b[4m",
  "\x1b[24m",
  link,
  linkEnd,
];
const styled = fc.array(fc.constantFrom(...pieces), { maxLength: 30 }).map((parts) => parts.join(""));
const width = fc.integer({ min: 2, max: 20 });

describe("visibleWidth", () => {
  test.each([
    ["", 0],
    ["abc", 3],
    ["\t", 3],
    ["日本", 4],
    ["e\u0301", 1],
    ["👨‍👩‍👧", 2],
    ["🇩🇪", 2],
    ["❤️", 2],
    ["\u200b", 0],
    [`${red}ab${reset}`, 2],
    [`${link}ab${linkEnd}`, 2],
    ["\x1b_pi:c\x07x", 1],
    ["a\nb", 2],
  ])("of %j is %i", (text, expected) => {
    expect(visibleWidth(text)).toBe(expected);
  });

  test("does not depend on how a text is put together, unless a cluster is cut", () => {
    fc.assert(
      fc.property(styled, styled, (a, b) => visibleWidth(`${a} ${b}`) === visibleWidth(a) + 1 + visibleWidth(b)),
    );
  });

  test("takes a long text without blanks in time that grows with its length", () => {
    expect(visibleWidth("日".repeat(200_000))).toBe(400_000);
  });
});

describe("standalone characters", () => {
  const codes = Array.from({ length: 0x10000 }, (_, code) => code).filter((code) => getStandaloneCell(code));

  test("are clusters of their own beside any other of them", () => {
    const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });
    const neighbors = ["a", "é", "→", "漢", "カ", "각", "가", "！"];
    for (let index = 0; index < codes.length; index += 16) {
      const characters = codes
        .slice(index, index + 16)
        .flatMap((code) => [String.fromCharCode(code), neighbors[code % neighbors.length] as string]);
      const clusters = Array.from(segmenter.segment(characters.join("")), ({ segment }) => segment);
      expect(clusters).toEqual(characters);
    }
  });

  test("are as wide as after a segmenter", () => {
    // What follows is no standalone character, so that the segmenter is asked for both.
    const widths = codes.map((code) => toCells(`${String.fromCharCode(code)}\u200b`)[0]?.width);
    expect(widths).toEqual(codes.map((code) => getStandaloneCell(code)?.width));
  });

  test("of Chinese, Japanese and Korean text need no segmenter", () => {
    const segment = vi.spyOn(Intl.Segmenter.prototype, "segment");
    expect(visibleWidth("안녕하세요, 「漢字」とカナ！（全角）".repeat(1000))).toBe(36_000);
    expect(segment).not.toHaveBeenCalled();
    segment.mockRestore();
  });
});

describe("wrapTextWithAnsi", () => {
  test.each([
    ["This is a long line that needs wrapping", 20, ["This is a long line", "that needs wrapping"]],
    ["", 10, [""]],
    ["a\n\nb", 10, ["a", "", "b"]],
    ["verylongwordthatdoesnotfit", 10, ["verylongwo", "rdthatdoes", "notfit"]],
    ["  leading", 10, ["  leading"]],
    ["hello     world", 8, ["hello", "world"]],
    ["日本語テキスト長い", 5, ["日本", "語テ", "キス", "ト長", "い"]],
    [
      `${red}red text that wraps around${reset} end`,
      10,
      [`${red}red text`, `${red}that wraps`, `${red}around${reset} end`],
    ],
    ["\x1b[4munderlined text\x1b[24m", 8, ["\x1b[4munderlin\x1b[24m", "\x1b[4med text\x1b[24m"]],
    [`${link}a link${linkEnd} z`, 4, [`${link}a${linkEnd}`, `${link}link${linkEnd}`, "z"]],
    [`${stLink}a link${stLinkEnd} z`, 4, [`${stLink}a${stLinkEnd}`, `${stLink}link${stLinkEnd}`, "z"]],
    ["aa b", 1, ["a", "a", "b"]],
    // What fills the first line has no background.
    [`\x1b[41mred${reset} and`, 5, [`\x1b[41mred${reset}`, "and"]],
    ["\x1b[1mbold\nnext\x1b[22m", 10, ["\x1b[1mbold", "\x1b[1mnext\x1b[22m"]],
  ])("%j in %i columns", (text, columns, expected) => {
    expect(wrapTextWithAnsi(text, columns)).toEqual(expected);
  });

  test("a word may have any number of escape sequences", () => {
    expect(wrapTextWithAnsi(`aaa${"\x1b[1m".repeat(200_000)}b`, 3).at(-1)).toMatch(/b$/);
  });

  test("no line is wider than asked for, and nothing but blanks is lost", () => {
    fc.assert(
      fc.property(styled, width, (text, columns) => {
        const lines = wrapTextWithAnsi(text, columns);
        for (const line of lines) expect(visibleWidth(line)).toBeLessThanOrEqual(Math.max(columns, 3));
        const visible = (value: string) => stripTerminalSequences(value).replaceAll(/[ \t]/g, "");
        expect(visible(lines.join(""))).toBe(visible(text));
      }),
    );
  });

  test("each line can be drawn alone: it opens what is active and leaves no underline and no link open", () => {
    fc.assert(
      fc.property(styled, width, (text, columns) => {
        for (const line of wrapTextWithAnsi(text, columns)) {
          expect(line.lastIndexOf(link) <= line.lastIndexOf(linkEnd) || !line.includes(link)).toBe(true);
          expect(line.lastIndexOf("\x1b[4m") <= Math.max(line.lastIndexOf("\x1b[24m"), line.lastIndexOf(reset))).toBe(
            true,
          );
        }
      }),
    );
  });
});

describe("truncateToWidth", () => {
  test.each([
    [["Hello World", 8], `Hello${reset}...${reset}`],
    [["Hello World", 8, ""], `Hello Wo${reset}`],
    [["Hello", 5], "Hello"],
    [["Hello", 2], `${reset}..${reset}`],
    [["Hello", 0], ""],
    [["hi", 5, "...", true], "hi   "],
    [["日本語", 5], `日${reset}...${reset}`],
    [[`${link}linktext${linkEnd}`, 5], `${link}li${linkEnd}${reset}...${reset}`],
    [["abcdef", 3, "\x1b[2m…\x1b[22m"], `ab${reset}\x1b[2m…\x1b[22m${reset}`],
    [["abcdef", 1, "🙂"], ""],
    [["abcdef", 1, "🙂", true], " "],
    [["abcdef", 2, "🙂"], `${reset}🙂${reset}`],
    [["abcdef", 3, "🙂🙂"], `${reset}🙂${reset}`],
    [[`${stLink}linktext${stLinkEnd}`, 5], `${stLink}li${stLinkEnd}${reset}...${reset}`],
  ] as const)("%j", (args, expected) => {
    expect(truncateToWidth(...(args as readonly [string, number, string?, boolean?]))).toBe(expected);
  });

  test("fits, and is padded to exactly the width if asked to", () => {
    fc.assert(
      fc.property(
        styled,
        fc.integer({ min: 1, max: 20 }),
        fc.constantFrom("...", "…", ""),
        (text, columns, ellipsis) => {
          expect(visibleWidth(truncateToWidth(text, columns, ellipsis))).toBeLessThanOrEqual(columns);
          expect(visibleWidth(truncateToWidth(text, columns, ellipsis, true))).toBe(columns);
        },
      ),
    );
  });
});

describe("sliceByColumn", () => {
  test.each([
    [["Hello", 1, 3], "ell"],
    [["日本語", 1, 3], "本"],
    [["日本語", 0, 3], "日本"],
    [["日本語", 0, 3, true], "日"],
    [[`${red}Hello${reset}`, 1, 2], `${red}el`],
    [["abc", 5, 2], ""],
  ] as const)("%j", (args, expected) => {
    expect(sliceByColumn(...(args as readonly [string, number, number, boolean?]))).toBe(expected);
  });

  test("says how wide the result is, and a strict one is never wider than asked for", () => {
    fc.assert(
      fc.property(styled, fc.nat(10), fc.nat(10), (text, start, length) => {
        const slice = sliceWithWidth(text, start, length, true);
        expect(visibleWidth(slice.text)).toBe(slice.width);
        expect(slice.width === 3 && text.includes("\t") ? 0 : slice.width).toBeLessThanOrEqual(length);
      }),
    );
  });
});
