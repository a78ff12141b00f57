import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createDocument, insertText, moveTo, replaceRange } from "./document.ts";
import { findAtoms } from "./paste-markers.ts";
import { countRows, findRow, getRow, layOut } from "./layout.ts";
import { wrapRows } from "./wrap-rows.ts";
import { findWordEnd, findWordStart } from "./words.ts";

const pieces = ["a", "bc", " ", "  ", "longer-word", "你好", "👨‍👩‍👧", "e\u0301", "\u0301", "🇩🇪", "\n"];
const text = fc.array(fc.constantFrom(...pieces), { maxLength: 60 }).map((parts) => parts.join(""));

describe("rows", () => {
  const marker = "[paste #1 +12 lines]";

  test.each<[string, number, string[]]>([
    ["hello world foo", 11, ["hello ", "world foo"]],
    ["hello   world", 6, ["hello ", "  ", "world"]],
    ["aaaaaaaaaa b", 4, ["aaaa", "aaaa", "aa b"]],
    ["a aaaaaaaaaa", 4, ["a ", "aaaa", "aaaa", "aa"]],
    ["你好 世界ab", 5, ["你好 ", "世界", "ab"]],
    ["abc   ", 3, ["abc", "   "]],
    [" 2.5👍👍", 6, [" 2.5👍", "👍"]],
    ["你好", 1, ["你", "好"]],
    ["", 5, [""]],
    [`ab ${marker}c`, 22, ["ab ", `${marker}c`]],
    [`ab${marker}cd`, 10, ["ab", "[paste #1 ", "+12 lines]", "cd"]],
  ])("%j at %d", (line, width, rows) => {
    const starts = wrapRows(line, width, findAtoms(line, new Map([[1, ""]])));
    expect(starts.map((start, index) => line.slice(start, starts[index + 1]))).toEqual(rows);
  });

  test("a line is broken the same way with and without characters that need a segmenter", () => {
    const plain = fc.constantFrom("a", "bc", " ", "  ", "\u3000", "longer-word", "你好", "안녕", "、", "→");
    fc.assert(
      fc.property(fc.array(plain, { maxLength: 60 }), fc.integer({ min: 1, max: 12 }), (parts, width) => {
        const line = parts.join("");
        const starts = wrapRows(line, width);
        // A variation selector after each character changes no width, and none of them is standalone any more.
        const segmented = wrapRows(Array.from(line, (character) => `${character}\u{e0100}`).join(""), width);
        expect(starts).toEqual(segmented.map((start) => start / 3));
      }),
    );
  });

  test("a cluster of several characters is never broken, wherever it is in a long line", () => {
    const family = "👨‍👩‍👧";
    for (let before = 230; before < 270; before++) {
      const line = `é${"x".repeat(before).replaceAll("x", "x\u0301")}${family}`;
      expect(wrapRows(line, 3).filter((start) => start > line.length - family.length)).toEqual([]);
    }
  });

  test("after any edit, the rows are those of the whole text laid out at once", () => {
    fc.assert(
      fc.property(
        text,
        fc.array(fc.tuple(fc.nat(), fc.nat(), fc.nat(3000), text)),
        fc.integer({ min: 3, max: 12 }),
        (start, edits, width) => {
          // Long lines are not laid out as a whole after an edit.
          let document = createDocument(`${start}\n${"words and 你好 ".repeat(300)}${start}`);
          let layout = layOut(document, width);
          for (const [line, col, length, inserted] of edits) {
            const from = moveTo(document, { line: line % document.lines.length, col: col % 4000 }).cursor;
            const to = moveTo(document, { line: from.line, col: from.col + (length % 30) }).cursor;
            document = replaceRange(document, from, to, inserted);
            layout = layOut(document, width, layout);
            expect(layout.starts).toEqual(layOut(document, width).starts);
          }
        },
      ),
    );
  });

  test("every position is in the row that is found for it", () => {
    fc.assert(
      fc.property(text, fc.nat(), fc.nat(), (content, line, col) => {
        const document = createDocument(content);
        const layout = layOut(document, 7);
        const { cursor } = moveTo(document, { line: line % document.lines.length, col: col % 80 });
        const index = findRow(layout, cursor);
        const row = getRow(layout, index);
        expect(row.line).toBe(cursor.line);
        expect(cursor.col).toBeGreaterThanOrEqual(row.start);
        expect(cursor.col).toBeLessThanOrEqual(row.end);
        expect(index).toBeLessThan(countRows(layout));
      }),
    );
  });

  test("lines that did not change keep their rows", () => {
    const document = createDocument("some words here\n".repeat(100));
    const layout = layOut(document, 8);
    const edited = layOut(insertText(moveTo(document, { line: 50, col: 4 }), "!"), 8, layout);
    expect(edited.starts.filter((starts, line) => starts !== layout.starts[line])).toHaveLength(1);
  });
});

describe("words", () => {
  test.each<[string, number[], number[]]>([
    ["foo bar.baz  qux", [13, 8, 7, 4, 0], [3, 7, 8, 11, 16]],
    ["a-b_c d", [6, 2, 1, 0], [1, 2, 5, 7]],
    ["it's a test...", [11, 7, 5, 3, 2, 0], [2, 3, 4, 6, 11, 14]],
    ["你好世界 hello", [5, 2, 0], [2, 4, 10]],
    ["3.14 foo_bar", [5, 2, 1, 0], [1, 2, 4, 12]],
    ["foo 👨‍👩‍👧 bar", [13, 4, 0], [3, 12, 16]],
  ])("%j", (line, starts, ends) => {
    const walk = (from: number, step: (col: number) => number) => {
      const stops: number[] = [];
      for (let col = from, next = step(col); next !== col; col = next, next = step(col)) stops.push(next);
      return stops;
    };
    expect(walk(line.length, (col) => findWordStart(line, col))).toEqual(starts);
    expect(walk(0, (col) => findWordEnd(line, col))).toEqual(ends);
  });

  test("a word without end is crossed in steps", () => {
    const line = "a".repeat(100_000);
    expect(findWordStart(line, line.length)).toBeGreaterThan(line.length - 2000);
    expect(findWordEnd(line, 0)).toBeLessThan(2000);
  });
});
