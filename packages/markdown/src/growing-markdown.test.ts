import fc from "fast-check";
import { expect, test } from "vitest";
import { GrowingMarkdown } from "./growing-markdown.ts";
import { lexMarkdown } from "./lex-markdown.ts";

test("a text that arrives in pieces is read as the whole text is, wherever it is cut", () => {
  const blocks = [
    "# Title",
    "Some *words* here.",
    "- one\n- two\n\n  more",
    "```ts\nconst a = 1;\n\nconst b = 2;\n```",
    "> quote",
    "| a | b |\n|---|---|\n| 1 | 2 |",
    "1. one\n\n2. two",
    "[x] and [y][x]\n\n[x]: https://example.com\n[x]: https://example.com/other",
    "The end.",
  ];
  const source = fc
    .tuple(fc.shuffledSubarray(blocks, { minLength: 1 }), fc.constantFrom("\n", "\r\n", "\r"))
    .map(([chosen, lineEnd]) => chosen.join("\n\n").replaceAll("\n", lineEnd));
  fc.assert(
    fc.property(source, fc.array(fc.nat(300), { maxLength: 20 }), (text, cuts) => {
      const growing = new GrowingMarkdown();
      for (const cut of cuts.toSorted((a, b) => a - b)) growing.update(text.slice(0, cut));
      const tokens = growing.update(text);
      const whole = text.replaceAll(/\r\n?/g, "\n");
      expect(tokens).toEqual([...lexMarkdown(whole, { definitions: false })]);
      expect(tokens.map(({ raw }) => raw).join("")).toBe(whole);
    }),
    { numRuns: process.env["TAU_LONG"] ? 5_000 : 100 },
  );
});

test("blocks that did not change are the same objects", () => {
  const growing = new GrowingMarkdown();
  const before = growing.update("One.\r\n\r\nTwo.\r\n\r\nThree.\r\n\r\nFour");
  const after = growing.update("One.\r\n\r\nTwo.\r\n\r\nThree.\r\n\r\nFour and more.");
  expect(after.slice(0, 6)).toEqual(before.slice(0, 6));
  expect(after[2]).toBe(before[2]);
});

test("what would take too long to parse is shown as it is", () => {
  for (const text of ["*a".repeat(20_000), `${"> ".repeat(500)}x`, "[".repeat(30_000)]) {
    expect(
      lexMarkdown(text)
        .map(({ raw }) => raw)
        .join(""),
    ).toBe(text);
  }
});
