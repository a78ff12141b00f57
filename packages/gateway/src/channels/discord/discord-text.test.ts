import fc from "fast-check";
import { expect, test } from "vitest";
import { toDiscordText } from "./discord-text.ts";

/** Pieces that mean something to Markdown or to Discord. */
const pieces = [
  "@everyone",
  "@here",
  "[bank](https://evil.example)",
  "[bank]( <https://evil.example> )",
  "[b](http://a(b)c)",
  "[",
  "]",
  "(",
  ")",
  "](",
  "https:",
  "http://a",
  "\\",
  "**",
  "\n",
  " ",
  "x",
  "<",
  ">",
  "!",
];

test("no text calls everyone or hides where a link leads, and none becomes longer", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 14 }), (parts) => {
      const markdown = parts.join("");
      const text = toDiscordText(markdown);
      expect(text).not.toMatch(/(?<!\\)@(?:everyone|here)/);
      expect(text).not.toMatch(/(?<!\\)\]\((?=\s*<?https?:)/);
      expect(text.length).toBeLessThanOrEqual(markdown.length);
    }),
    { numRuns: 2_000 },
  );
});
