import { describe, expect, test } from "vitest";
import { embedMarkdown } from "./embed-markdown.ts";
import { markdownHtml } from "./markdown-html.ts";

test("emphasis is nested only up to the limit", () => {
  const html = markdownHtml("*a ".repeat(50) + "b* ".repeat(50));
  expect(html.match(/<em>/g)).toHaveLength(16);
});

test("a paragraph with very many marks is text, and the paragraph after it is not", () => {
  expect(markdownHtml(`${"*a* ".repeat(300)}\n\n*b*`)).toBe(`<p>${"*a* ".repeat(300)}</p>\n<p><em>b</em></p>`);
});

describe("the output grows no faster than the text", () => {
  const sizes = process.env["TAU_LONG"] ? [1_000, 10_000, 100_000] : [1_000, 30_000];
  const check = (create: (size: number) => string) => {
    for (const size of sizes) {
      const text = create(size);
      expect(markdownHtml(text).length).toBeLessThan(60 * text.length);
      expect(embedMarkdown(text).length).toBeLessThan(60 * text.length);
    }
  };

  // Each looks like a construct nearly to its end, and then turns out to be something else.
  test.each([
    ["a|b\n", "-", "x"],
    ["a|b\n", "|-", "x"],
    ["a|b\n", ": -", "x"],
    ["", "~", "`"],
    ["", "`", "a`"],
    ["", "~~~ ", "`"],
    ["", "-", "x"],
    ["", "- ", "x"],
    ["# ", " #", "x"],
    ["# ", "#", "x"],
    ["a\n", "=", "x"],
    ["", " ", "x"],
    ["[a](", "(b)", "x"],
    ["https://", ".", "x"],
  ])("%j, then %j again and again, then %j", (before, piece, after) => {
    check((size) => before + piece.repeat(size / piece.length) + after);
  });

  test.each(
    [
      ["*a ", "a_ *b ", "~~a *b ", "***", "_a_", "***a* ", "a*", "**a", "~~a~~", "!", "-@", "a@"],
      ["[", "[a](", "[a](b ", "[a](<", '![a](b "', "[a]", "[a][", "[a](b)", "[a]: b\n", '[a]: b "\n\n', "]"],
      ["`", "`` ` ", "a`b", "<", "<http://", "<a ", "<!--", "h", "https://a)", "http://a.example ", "www.", "\\"],
      ["> ", "> a\n", "> a\nb\n\n", "> > a\nb\n> > > c\n\n", "> \n<\n> "],
      ["- ", "- \n", "1. a\n", " \n- a\n  ", "- - ", "- a\n\n", "- a\nb\n\n", "- =\n(\n", "- **\n<_`![```\n\n"],
      ["|", "|-", "| a\n", "a|b\n-|-\n", "a|b\n-|-\n\n", "|-|[\n|-\n\n", "-\n|-\n", "|a|b\n|-\n\n"],
      ["#", "# ", "# #", "=\n", "a\n=\n", "\n", " ", "\t", "    a\n", "```", "```\n", "~~~a\n", "~~~a\n\n"],
    ]
      .flat()
      .map((piece) => [piece]),
  )("%j", (piece) => {
    check((size) => piece.repeat(Math.ceil(size / piece.length)));
  });
});
