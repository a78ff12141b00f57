import fc from "fast-check";
import { expect, test } from "vitest";
import type { Io } from "../commands/command.ts";
import { cleanLine, cutTo, displayWidth, tableText, treeText } from "./table.ts";

const io = (out: boolean, columns = 40, colour = false) =>
  ({ terminal: { input: false, out, err: false }, env: { COLUMNS: String(columns) }, colour }) as unknown as Io;

const columns = [{ title: "A" }, { title: "B", align: "right" as const }, { title: "C", shrinks: true as const }];

test("columns fit their content, numbers are right-aligned, and no line ends in spaces", () => {
  const text = tableText(
    columns,
    [
      ["one", "1", "x"],
      ["three", "100", ""],
    ],
    io(false),
  );
  expect(text).toBe("A        B  C\none      1  x\nthree  100\n");
});

test("a table may have more rows than a call takes arguments", () => {
  const rows = Array.from({ length: 200_000 }, () => ["x"]);
  rows.push(["the longest"]);
  expect(tableText([{ title: "A" }], rows, io(false)).endsWith("x\nthe longest\n")).toBe(true);
});

test("on a terminal no line is wider than it; in other output nothing is cut", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "grapheme", maxLength: 80 }), { minLength: 1 }), (texts) => {
      const rows = texts.map((text) => ["id", "1", text]);
      for (const line of tableText(columns, rows, io(true)).split("\n"))
        expect(displayWidth(line)).toBeLessThanOrEqual(40);
      const whole = tableText(columns, rows, io(false));
      for (const text of texts) expect(whole).toContain(cleanLine(text));
    }),
  );
});

test("a cut text is the beginning of the text, and fits", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.integer({ min: 1, max: 20 }), (text, width) => {
      const cut = cutTo(text, width);
      expect(displayWidth(cut)).toBeLessThanOrEqual(Math.max(width, 1));
      if (cut !== text) expect(text.startsWith(cut.slice(0, -1))).toBe(true);
    }),
  );
});

test("wide letters take two cells, and marks none", () => {
  expect(displayWidth("日本")).toBe(4);
  expect(displayWidth("e\u0301")).toBe(1);
  expect(cutTo("日本語", 5)).toBe("日本…");
});

test("output without colours contains no escape sequences", () => {
  const rows = [[{ text: "ok", colour: "green" as const }, "1", "x"]];
  expect(tableText(columns, rows, io(false))).not.toContain("\u001b");
});

test("a tree is indented at each level, and with flattened chains only at branches", () => {
  const leaf = (text: string) => ({ text, children: [] });
  const tree = [{ text: "a", children: [{ text: "b", children: [leaf("c"), leaf("d")] }] }, leaf("e")];
  expect(treeText(tree, io(false))).toBe("a\n└─ b\n   ├─ c\n   └─ d\ne\n");
  expect(treeText(tree, io(false), { flattenChains: true })).toBe("a\nb\n├─ c\n└─ d\ne\n");
  expect(treeText([], io(false))).toBe("");
});
