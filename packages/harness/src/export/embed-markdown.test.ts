import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { embedMarkdown } from "./embed-markdown.ts";
import { lexMarkdown } from "@tau/markdown";
import { markdownHtml } from "./markdown-html.ts";
import { inlineMarkdown, markdown } from "../../test/export/random-markdown.ts";

describe("Markdown keeps its meaning and cannot change the document around it", () => {
  test.each([
    ["plain *text* with `code <b>` and a < b", "plain *text* with `code <b>` and a < b"],
    ["_a_ __b__ ***c*** ~~d~~ \\*e\\*", "_a_ __b__ ***c*** ~~d~~ \\*e\\*"],
    ["# a\n##### b\n\nc\n===\nd\n---", "### a\n\n###### b\n\n### c\n\n#### d"],
    ["<b> </b> <!-- <?x \\<i> <https://x.example>", "&lt;b> &lt;/b> &lt;!-- &lt;?x &lt;i> <https://x.example>"],
    ["<div>\n\n**a**", "&lt;div>\n\n**a**"],
    ["```\n<b>\n```\n<b>", "```\n<b>\n```\n\n&lt;b>"],
    ["- a\n  ```\n  <b>\n  ```", "- a\n  ```\n  <b>\n  ```"],
    ["- a ` b\n- <b> ` c", "- a &#96; b\n- &lt;b> &#96; c"],
    ["`a\nb ` <b> ` c", "` a b  ` &lt;b> &#96; c"],
    ["```\nopen", "```\nopen\n```"],
    ["    indented <b>", "```\nindented <b>\n```"],
    ["- ```\n  a\n  ```", "- ```\n  a\n  ```"],
    ["3. a\n\n   b\n4. [x] c\n5. [ ] d", "3. a\n\n   b\n\n4. [x] c\n\n5. [ ] d"],
    ["> a\n> > b\nc", "> a\n>\n> > b\n> > c"],
    ["| a | b |\n|:-:|---|\n| ` | <b> ` | \\| |", "| a | b |\n| :-: | --- |\n| &#96; | &lt;b> &#96; |"],
    ['[a](b "c `d`") ![e](https://x.example/<f>)', '[a](b "c &#96;d&#96;") [e](https://x.example/%3Cf%3E)'],
    ["[a][x]\n\n[x]: https://x.example", "[a](https://x.example)\n\n\\[x]: https://x.example"],
    ["[a]:https://x.example ](>\n[b\nc]: d", "\\[a]:<https://x.example> ](>\n\\[b\nc]: d"],
    ["[a](<b\tc\u3000d(e)>)", "[a](b%09c%E3%80%80d%28e%29)"],
    ["https://x.example/`a `<b>`", "<https://x.example/%60a> `<b>`"],
    [
      "https://x.example/<b> www.x.example/\\<b>",
      "<https://x.example/>&lt;b> [www.x.example/\\](http://www.x.example/%5C)&lt;b>",
    ],
    ["a\n    # b\n    - c\n    1. d\n    ===", "a\n\\# b\n\\- c\n1\\. d\n\\==="],
    ["> ".repeat(20), `\`\`\`markdown\n${"> ".repeat(20)}\n\`\`\``],
  ])("%j", (text, expected) => {
    expect(embedMarkdown(text)).toBe(expected);
  });
});

test("whatever the Markdown, a text after it is a paragraph of its own", () => {
  fc.assert(
    fc.property(fc.oneof(markdown, inlineMarkdown), (text) => {
      const html = markdownHtml(`${embedMarkdown(text)}\n\n## After\n\n[a][x] end`);
      expect(html.endsWith("<h4>After</h4>\n<p>[a][x] end</p>")).toBe(true);
    }),
    { numRuns: 2_000 },
  );
});

test("whatever the Markdown, the embedded text has no heading of the first two levels and no definition", () => {
  fc.assert(
    fc.property(fc.oneof(markdown, inlineMarkdown), (text) => {
      const tokens = lexMarkdown(embedMarkdown(text));
      const forbidden = tokens.filter((token) => token.type === "def" || (token.type === "heading" && token.depth < 3));
      expect(forbidden).toEqual([]);
    }),
    { numRuns: 2_000 },
  );
});
