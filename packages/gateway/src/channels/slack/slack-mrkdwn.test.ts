import fc from "fast-check";
import { expect, test } from "vitest";
import { toContent } from "./slack-content.ts";
import { toMrkdwn } from "./slack-mrkdwn.ts";

test.each([
  ["a & b < c", "a &amp; b &lt; c"],
  [
    "# Title with **weight**\n\nText *soft* **hard** ~~gone~~ `x<y`",
    "*Title with weight*\n\nText _soft_ *hard* ~gone~ `x&lt;y`",
  ],
  ["**hard *and soft* and __hard__**", "*hard _and soft_ and hard*"],
  ["```ts\nlet a = 1 < 2;\n```", "```\nlet a = 1 &lt; 2;\n```"],
  ["````\n```\nx\n````", "```\n``\u200B`\nx\n```"],
  ["`` a`b ``", "`a'b`"],
  ["[bank](https://evil.example)", "bank (<https://evil.example>)"],
  ["[x](https://a.example/|https://bank.example)", "x (<https://a.example/%7Chttps://bank.example>)"],
  ["[x](javascript:alert(1))", "x (javascript:alert(1))"],
  ["<https://a.example?a=1&b=2>", "<https://a.example?a=1&amp;b=2>"],
  ["![plan](https://a.example/p.png)", "plan (<https://a.example/p.png>)"],
  ["- one\n- two\n  1. three", "• one\n• two\n  1. three"],
  ["> quoted\n> twice", "> quoted\n> twice"],
  [
    "<!channel> <!everyone> <!here> <@U2> <!subteam^S1> <#C1>",
    "&lt;!channel&gt; &lt;!everyone&gt; &lt;!here&gt; &lt;@U2&gt; &lt;!subteam^S1&gt; &lt;#C1&gt;",
  ],
  ["[a](<!channel>)", "a (!channel)"],
  ["[**<!here>**](https://a.example)", "*&lt;!here&gt;* (<https://a.example>)"],
  ["| a | b |\n|---|---|\n| 1 | <@U2> |", "```\n| a | b |\n|---|---|\n| 1 | &lt;@U2&gt; |\n```"],
  ["<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"],
])("Markdown %j is written as %j", (markdown, mrkdwn) => {
  expect(toMrkdwn(markdown)).toBe(mrkdwn);
});

/** Pieces that mean something to Markdown or to Slack. */
const pieces = [
  "<",
  ">",
  "!channel",
  "!here",
  "@U2",
  "|",
  "*",
  "_",
  "`",
  "```\n",
  "[a](",
  ")",
  "https://a.example",
  "\n",
  "\n\n",
  "&",
  "# ",
  "> ",
  "- ",
  "x",
];

test("no text makes anything but addresses out of brackets", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 30 }), (parts) => {
      const text = toMrkdwn(parts.join(""));
      expect(text.replaceAll(/<(?:https?|mailto):[^<>|\s]*>/g, "")).not.toContain("<");
    }),
  );
});

test("what is too long for the text of a message is in sections, and none of them is too long", () => {
  expect(toContent("short")).toEqual({ text: "short", blocks: [] });
  const code = `\`\`\`html\n${"<b>\n".repeat(740)}\`\`\``;
  const { text, blocks } = toContent(code);
  expect(text.length).toBeLessThanOrEqual(4_000);
  expect(text).toMatch(/(?:;|b|\n)…$/);
  const sections = blocks.map((block) => (block["text"] as { text: string }).text);
  expect(sections.length).toBeGreaterThan(1);
  for (const section of sections) {
    expect(section.length).toBeLessThanOrEqual(3_000);
    expect(section).toMatch(/^```\n[^`]*\n```$/);
  }
  expect(sections.join("").match(/&lt;b&gt;/g)).toHaveLength(740);
});

test("buttons that Slack would refuse are shortened or left out", () => {
  const { blocks } = toContent("May I?", [
    { label: "Yes".repeat(50), value: "/approve x yes" },
    { label: "No", value: "x".repeat(2_001) },
  ]);
  expect(blocks[1]).toMatchObject({ elements: [{ text: { text: "Yes".repeat(25) }, value: "/approve x yes" }] });
  expect((blocks[1]!["elements"] as unknown[]).length).toBe(1);
});
