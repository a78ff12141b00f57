import fc from "fast-check";
import { expect, test } from "vitest";
import { GrowingMarkdown, lexMarkdown } from "./lex-markdown.ts";
import { toSafeLink } from "./safe-link.ts";

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
      expect(tokens).toEqual([...lexMarkdown(text)]);
      expect(tokens.map(({ raw }) => raw).join("")).toBe(text.replaceAll(/\r\n?/g, "\n"));
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

test.each([
  ["https://example.com/a", "https://example.com/a"],
  ["HTTP://EXAMPLE.com", "http://example.com/"],
  ["https://еxample.com/", "https://xn--xample-2of.com/"],
  ["mailto:a@example.com", "mailto:a@example.com"],
  ["javascript:alert(1)", undefined],
  ["JavaScript:alert(1)", undefined],
  [" https://example.com", undefined],
  ["data:text/html,x", undefined],
  ["//example.com", undefined],
  ["/pair/claim", undefined],
  ["#x", undefined],
  ["file:///etc/passwd", undefined],
  ['https://example.com/"onclick="x', undefined],
  ["https://", undefined],
])("a link to %j leads to %j", (href, address) => {
  expect(toSafeLink(href)).toBe(address);
});
