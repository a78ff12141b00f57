import fc from "fast-check";
import { expect, test } from "vitest";
import { toTelegramHtml } from "./telegram-html.ts";

const tag = /<(\/?)(b|i|s|code|pre|blockquote)(?: class="language-[\w+#-]{1,30}")?>/g;

/** Whether there are no tags but those of Telegram, each closed in its place, and no other brackets. */
function isMarkup(html: string): boolean {
  const open: string[] = [];
  for (const [, slash, name = ""] of html.matchAll(tag)) {
    if (slash === "") open.push(name);
    else if (open.pop() !== name) return false;
  }
  return open.length === 0 && !/[<>]/.test(html.replaceAll(tag, ""));
}

/** Pieces that mean something to Markdown or to Telegram. */
const pieces = [
  "**",
  "_",
  "~~",
  "`",
  "```",
  '```a" onclick\n',
  "> ",
  "- ",
  "1. ",
  "# ",
  "\n",
  "\n\n",
  "    ",
  "|a|\n|-|\n",
  "<b>",
  "</pre>",
  '<a href="tg://user?id=1">',
  "<!-- ",
  " -->",
  "&lt;",
  "&",
  "\\",
  "x",
  " ",
  "[x](tg://user?id=1)",
  "![x](https://a.example)",
  "[x]: https://a.example\n",
  "<https://a.example>",
  "[x]",
];

test("no text makes other markup than that of Telegram, and links show where they lead", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 14 }), (parts) => {
      expect(isMarkup(toTelegramHtml(parts.join("")))).toBe(true);
    }),
    { numRuns: 2_000 },
  );
  expect(toTelegramHtml("[your bank](https://evil.example/?a&b)")).toBe("your bank (https://evil.example/?a&amp;b)");
});
