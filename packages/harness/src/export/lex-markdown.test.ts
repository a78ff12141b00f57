import { describe, expect, test } from "vitest";
import { embedMarkdown } from "./embed-markdown.ts";
import { lexMarkdown } from "./lex-markdown.ts";
import { markdownHtml } from "./markdown-html.ts";

const isUnparsed = (text: string) => {
  const [token, ...others] = lexMarkdown(text);
  return others.length === 0 && token?.type === "code" && token.lang === "markdown" && token.text === text;
};

describe("a text that exceeds a limit is one block of code", () => {
  test.each([
    ["quotes in quotes", "> ".repeat(10_000)],
    ["quotes in quotes without spaces", ">".repeat(9_000)],
    ["lists in lists", "1. ".repeat(3_000)],
    ["lists and quotes in each other", "1) - > ".repeat(1_000)],
    ["quotes in quotes that lines without marks continue", `${"> ".repeat(14)}a\nb\n`],
    [
      "a narrow text that would become a wide table",
      `${"|a".repeat(900)}|\n${"|-".repeat(900)}|\n${"|\n".repeat(900)}`,
    ],
    ["many lines without a blank line", "a line\n".repeat(2_000)],
  ])("%s", (_, text) => {
    expect(isUnparsed(`${text}a`)).toBe(true);
  });
});

test("blocks are nested up to the limit, and a text is parsed whatever its length", () => {
  expect(isUnparsed(`${"> ".repeat(15)}a`)).toBe(false);
  expect(isUnparsed(`${"> ".repeat(16)}a`)).toBe(true);
  expect(lexMarkdown("# a\n\nb\n\n".repeat(50_000)).filter(({ type }) => type === "heading")).toHaveLength(50_000);
});

test("emphasis is nested only up to the limit", () => {
  const html = markdownHtml("*a ".repeat(50) + "b* ".repeat(50));
  expect(html.match(/<em>/g)).toHaveLength(16);
});

test("a paragraph with very many marks is text, and the paragraph after it is not", () => {
  expect(markdownHtml(`${"*a* ".repeat(300)}\n\n*b*`)).toBe(`<p>${"*a* ".repeat(300)}</p>\n<p><em>b</em></p>`);
});

describe("the output grows no faster than the text", () => {
  const sizes = [1_000, 10_000, 100_000];
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
