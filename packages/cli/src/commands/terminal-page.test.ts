import { expect, test } from "vitest";
import { toTerminalPage } from "./terminal-page.ts";

test.each([
  ["lines of a paragraph", "one\ntwo\n\nthree", "one two\n\nthree"],
  ["lines of an item", "- one\n  two\n- three\n1. four\n   five", "- one two\n- three\n1. four five"],
  ["a break that is meant", "- `name`: text\\\n  more\n  words", "- `name`: text\\\n  more words"],
  [
    "headings, rows and code",
    "# A\ntext\n| a |\n| b |\n```\nx\n\ny\n```\nz",
    "# A\ntext\n| a |\n| b |\n```\nx\n\ny\n```\nz",
  ],
  ["a comment", "# A\n\n<!-- made -->\n\ntext", "# A\n\ntext"],
  ["a picture", "![The tree](images/tree.png)", "_(picture: The tree)_"],
  ["a link to a page", "see [settings.md](settings.md#models)", "see `tau help settings`"],
  ["a link with a text", "[skills](skills.md)", "skills (`tau help skills`)"],
  ["a link to the same page", "[below](#output)", "below"],
  [
    "other links",
    "[a](https://a.example) [b](../examples/b.ts) [c](unknown.md)",
    "[a](https://a.example) [b](../examples/b.ts) [c](unknown.md)",
  ],
])("%s", (_name, page, expected) => {
  expect(toTerminalPage(page)).toBe(expected);
});
