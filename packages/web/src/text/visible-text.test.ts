import { expect, test } from "vitest";
import { splitHidden, toPlainOutput } from "./visible-text.ts";

const show = (text: string) =>
  splitHidden(text)
    .map(({ text: part, isHidden }) => (isHidden ? `[${part}]` : part))
    .join("");

test.each([
  ["plain text\n\twith lines", "plain text\n\twith lines"],
  ["a\u202eb", "a[U+202E]b"],
  ["\u001b[31mred\u0007", "[U+001B][31mred[U+0007]"],
  ["zero\u200bwidth\u2060\ufeff", "zero[U+200B]width[U+2060][U+FEFF]"],
  ["a\u00a0b", "a[U+00A0]b"],
  ["a\rb", "a[U+000D]b"],
  ["\u{e0041}", "[U+E0041]"],
  ["\u0000", "[U+0000]"],
  ["ünïcödé 中文", "ünïcödé 中文"],
])("every character of %j that cannot be seen is shown by its number", (text, shown) => {
  expect(show(text)).toBe(shown);
});

test.each([
  ["\u001b[1;31mred\u001b[0m", "red"],
  ["10%\r20%\r100%\ndone\r\n", "100%\ndone\n"],
  ["\u001b]8;;https://x\u0007link\u001b]8;;\u0007", "link"],
  ["a\u0007b\u0000c", "abc"],
])("output %j is drawn as text", (output, text) => {
  expect(toPlainOutput(output)).toBe(text);
});
