import fc from "fast-check";
import { expect, test } from "vitest";
import { GrowingMarkdown, lexMarkdown } from "./lex-markdown.ts";
import { toSafeLink } from "./safe-link.ts";

const strip = (tokens: readonly { type: string; raw: string }[]) => tokens.map(({ type, raw }) => ({ type, raw }));

test("a text that arrives in pieces is read as the whole text is, wherever it is cut", () => {
  const source =
    "# Title\n\nSome *words* here.\n\n- one\n- two\n\n  more\n\n```ts\nconst a = 1;\n\nconst b = 2;\n```\n\n> quote\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nThe end.";
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: source.length }), { maxLength: 20 }), (cuts) => {
      const growing = new GrowingMarkdown();
      for (const cut of cuts.toSorted((a, b) => a - b)) growing.update(source.slice(0, cut));
      expect(strip(growing.update(source))).toEqual(strip(lexMarkdown(source)));
    }),
  );
});

test("blocks that did not change are the same objects", () => {
  const growing = new GrowingMarkdown();
  const before = growing.update("One.\n\nTwo.\n\nThree.\n\nFour");
  const after = growing.update("One.\n\nTwo.\n\nThree.\n\nFour and more.");
  expect(after.slice(0, 3)).toEqual(before.slice(0, 3));
  expect(after[0]).toBe(before[0]);
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
