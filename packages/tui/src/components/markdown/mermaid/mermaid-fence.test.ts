import { expect, test } from "vitest";
import { Markdown, type MarkdownTheme } from "../../markdown.ts";

const styles =
  "heading link linkUrl code codeBlock codeBlockBorder quote quoteBorder hr listBullet bold italic strikethrough underline";
const plain = Object.fromEntries(
  styles.split(" ").map((name) => [name, (text: string) => text]),
) as unknown as MarkdownTheme;

const open = (mermaid: MarkdownTheme["mermaid"], source: string) => {
  const markdown = new Markdown(source, 0, 0, { ...plain, ...(mermaid && { mermaid }) });
  markdown.isStreaming = true;
  return markdown;
};
const read = (markdown: Markdown, width = 40) => markdown.render(width).map((line) => line.trimEnd());

const beginning = "Look:\n\n```mermaid\ngraph LR\n  A --> B\n";
const source = ["Look:", "", "  graph LR", "    A --> B"];
const diagram = ["Look:", "", "┌───┐    ┌───┐", "│ A ├───▶│ B │", "└───┘    └───┘"];

test.each([
  ["off", source, source],
  [undefined, source, source],
  ["final", source, diagram],
  ["streaming", diagram, diagram],
] as const)("a diagram is drawn when the theme says so: %s", (mermaid, arriving, closed) => {
  const markdown = open(mermaid, beginning);
  expect(read(markdown)).toEqual(arriving);
  markdown.append("```\n");
  expect(read(markdown)).toEqual(closed);
});

test("no line of a diagram is finished before its fence is closed, because each may still change", () => {
  const markdown = open("streaming", beginning);
  expect(markdown.countFinished(40)).toBe(2);
  markdown.append("  B --> C\n  C");
  expect(read(markdown)[3]).toBe("│ A ├───▶│ B ├───▶│ C │");
  expect(markdown.countFinished(40)).toBe(2);
  markdown.append(" --> D\n```\n\nDone.\n\n");
  expect(read(markdown)[3]).toBe("│ A ├───▶│ B ├───▶│ C ├───▶│ D │");
  expect(markdown.countFinished(40)).toBe(5);
});

test("the source of a diagram is shown where it does not fit, and when it cannot be drawn", () => {
  const markdown = open("final", "```mermaid\ngraph LR\n  A[extraordinarily]\n```\n");
  expect(read(markdown, 12)).toContain("  graph LR");
  expect(read(markdown, 40)).toContain("│ extraordinarily │");
  expect(read(open("final", "```mermaid\npie\n  a: 1\n```\n"))).toEqual(["  pie", "    a: 1"]);
});

test("pieces of any size draw the same diagram", () => {
  const whole = `${beginning}\`\`\`\n\nDone.`;
  const markdown = open("streaming", "");
  for (const character of whole) {
    markdown.append(character);
    read(markdown);
  }
  expect(read(markdown)).toEqual([...diagram, "", "Done."]);
});
