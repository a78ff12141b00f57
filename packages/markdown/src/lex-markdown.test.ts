import { describe, expect, test } from "vitest";
import { lexMarkdown } from "./lex-markdown.ts";

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
