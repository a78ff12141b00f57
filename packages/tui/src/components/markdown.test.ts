import fc from "fast-check";
import { Lexer } from "marked";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { getCapabilities, resetCapabilitiesCache, setCapabilities } from "../terminal/capabilities.ts";
import { getOsc8LinkAtColumn } from "../terminal/hyperlink.ts";
import { visibleWidth } from "../text/cells.ts";
import { stripTerminalSequences } from "../text/escape.ts";
import { Markdown, type MarkdownTheme } from "./markdown.ts";
import { MarkdownDrawing } from "./markdown/draw.ts";
import { formulaExtensions } from "./markdown/formula.ts";
import { MarkdownLines } from "./markdown/lines.ts";
import { MarkdownStream } from "./markdown/stream.ts";

const names = [
  "heading",
  "link",
  "linkUrl",
  "code",
  "codeBlock",
  "codeBlockBorder",
  "quote",
  "quoteBorder",
  "hr",
  "listBullet",
  "bold",
  "italic",
  "strikethrough",
  "underline",
] as const;
type Name = (typeof names)[number];

const themeOf = (style: (name: Name) => (text: string) => string) =>
  Object.fromEntries(names.map((name) => [name, style(name)])) as unknown as MarkdownTheme;
const plain = themeOf(() => (text) => text);
const colored = themeOf((name) => (text) => `\x1b[${30 + (name.length % 8)}m${text}\x1b[39m`);
const tagged = themeOf((name) => (text) => `<${name}>${text}</${name}>`);

const draw = (source: string, width = 40, theme = plain) =>
  new Markdown(source, 0, 0, theme).render(width).map((line) => line.trimEnd());

const pieces = [
  "text",
  "more **bold text** here and there",
  "- a",
  "- b *it*",
  "* c",
  "1. x",
  "2. a long item that goes over the width of it",
  "3) z",
  "  - nested",
  "   1. numbered",
  "    deep",
  "      deeper",
  "  continued",
  "# Title",
  "### Part `x`",
  "---",
  "***",
  "===",
  "> quote",
  "> - item",
  ">q",
  "```",
  "```js",
  "~~~",
  "  ```",
  "code();",
  "| a | b |",
  "|---|---|",
  "| 1 | 2 and a long cell that wraps |",
  "  | 3 | [r] |",
  "    | 4",
  "5 | 6",
  "<div>",
  "</div>",
  "<!-- note",
  "-->",
  "<pre>",
  "[r]: http://u",
  "see [r] and [Other]",
  "[other]: <http://v> 'title'",
  "- [ ] open",
  "- [x] done",
  "-",
  "   ",
  "日本語 👨‍👩‍👧 &amp; \\*",
  "http://x.de and `a",
  "$a_1$ and $$b$$ for $5",
  "$$",
  "  $$ \\frac{a}{b} $$",
  "\\[ x",
  "+ y \\]",
];
const line = fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...pieces) }, { weight: 1, arbitrary: fc.constant("") });
const source = fc.array(line, { maxLength: 14 }).map((lines) => lines.join("\n"));

beforeEach(() => setCapabilities({ images: null, trueColor: true, hyperlinks: false }));
afterEach(() => resetCapabilitiesCache());

describe("drawing", () => {
  test.each<[string, string, string[]]>([
    ["headings", "# A\n## B\n### C\nd", ["A", "", "B", "", "### C", "", "d"]],
    ["paragraphs keep their line breaks", "a\nb  \nc\\\nd\n\n\ne", ["a", "b", "c", "d", "", "e"]],
    ["nested lists and tasks", "- a\n  - b\n- [ ] t\n- [x] d", ["- a", "    - b", "- [ ] t", "- [x] d"]],
    ["numbers count from the first", "3. a\n3. b\n9. c", ["3. a", "4. b", "5. c"]],
    ["loose lists have blank lines between items", "- a\n\n- b\n- c", ["- a", "", "- b", "", "- c"]],
    ["an empty item and blank lines end a list", "-\n\n\n- a\n-", ["-", "", "- a", "-"]],
    ["quotes", "> a\n>\n> > b", ["│ a", "│", "│ │ b"]],
    ["code, also without an end", "```js\nlet a;\n\n\tb", ["  let a;", "", "     b"]],
    ["indented code", "    a", ["  a"]],
    [
      "indented code after a table",
      "| a |\n|---|\n| 1 |\n    | 2 |\n| 3 |",
      ["┌───┐", "│ a │", "├───┤", "│ 1 │", "└───┘", "", "  | 2 |", "", "| 3 |"],
    ],
    ["rules", "---", ["─".repeat(40)]],
    ["links", "[a](http://x) <http://y>", ["a (http://x) http://y"]],
    ["links by reference, also if the address comes later", "[a][r]\n\n[r]: http://x", ["a (http://x)", ""]],
    ["images and HTML as text", "![alt](i.png) <b>x</b>", ["alt <b>x</b>"]],
    ["blocks of HTML as text", "<div>\nx\n</div>", ["<div>", "x", "</div>"]],
    ["entities, but not in code", "&lt;&#65;&copy; `&lt;`", ["<A© &lt;"]],
    ["unknown entities as they are", "&constructor; &foo; &#xd800;&#0;", ["&constructor; &foo; ��"]],
    ["formulas in text", "$x^2$, \\(a_1\\), \\[b\\] and $$c$$", ["x², a₁, b and c"]],
    ["formulas as blocks", "a\n$$\n\\frac{b}{c}\n- d\n$$\ne", ["a", "", "b", "─ - d", "c", "", "e"]],
    ["formulas in items, quotes and cells", "- $$\\frac{a}{b}$$\n\n> \\[x_1\\]", ["- a", "  ─", "  b", "", "│ x₁"]],
    ["formulas of several lines in a text", "a $\\begin{matrix}1\\\\2\\end{matrix}$ b", ["a", "1", "2", " b"]],
    [
      "formulas with unknown commands as they are",
      "$\\foo *a* *b*$ $x$\n\n$$\n\\foo\n$$",
      ["$\\foo *a* *b*$ x", "", "$$", "\\foo", "$$"],
    ],
    [
      "formulas that are too wide in one line, or as they are",
      `$$\\frac{a}{${"b".repeat(41)}}$$`,
      [`a/${"b".repeat(38)}`, "bbb"],
    ],
    ["prices", "costs $5 to $10, or $ 5 $, $5$6, $x\ny$", ["costs $5 to $10, or $ 5 $, $5$6, $x", "y$"]],
    ["variables of a shell", "$HOME/$USER ${A}/${B} $(pwd)/$(ls)", ["$HOME/$USER ${A}/${B} $(pwd)/$(ls)"]],
    ["dollars in code and with backslashes", "`$x^2$` \\$x^2$ $x", ["$x^2$ $x^2$ $x"]],
    ["one tilde", "~5 and ~6", ["~5 and ~6"]],
    ["a heading by underline", "A\n===\nb", ["A", "", "b"]],
    ["nothing", " \n\n", []],
  ])("%s", (_, markdown, expected) => {
    expect(draw(markdown)).toEqual(expected);
  });

  test("a table fits the width, and becomes a list of rows where there is no room for borders", () => {
    const table = "| name | text |\n|---|---|\n| a | long text of a cell |\n| b | c |";
    expect(draw(table, 20)).toEqual([
      "┌──────┬───────────┐",
      "│ name │ text      │",
      "├──────┼───────────┤",
      "│ a    │ long text │",
      "│      │ of a cell │",
      "├──────┼───────────┤",
      "│ b    │ c         │",
      "└──────┴───────────┘",
    ]);
    expect(draw("| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |", 8)).toEqual(["a: 1", "b: 2", "", "a: 3", "b: 4"]);
  });

  test.each([
    ["quotes", `${">".repeat(5_000)} a`],
    ["lists", `${"- ".repeat(5_000)} a`],
    ["emphasis", `${"*".repeat(5_000)}a${"*".repeat(5_000)}`],
  ])("%s that are nested very deep are text", (_, markdown) => {
    expect(draw(markdown).join("")).toContain("a");
  });

  const levels = Array.from({ length: 22 }, (_, index) => 22 - index);
  test.each([
    ["a quote of which each line is nested less deep", levels.map((level) => `${">".repeat(level)} x`).join("\n"), 22],
    ["a long word that ends like an address", `${"x".repeat(80_000)}@`, 80_000],
  ])("%s is read in a short time", (_, markdown, count) => {
    const before = process.cpuUsage();
    const lines = draw(markdown);
    const { user, system } = process.cpuUsage(before);
    expect(lines.join("").match(/x/g)).toHaveLength(count);
    expect((user + system) / 1000, "milliseconds").toBeLessThan(6_000);
  });

  test("a cell of a table may have any number of words", () => {
    const lines = draw(`| a |\n|---|\n| ${"x ".repeat(200_000)}|`);
    expect(lines.join("").match(/x/g)).toHaveLength(200_000);
  });

  test("columns of a table are aligned as their rule says, also lines of a cell that wraps", () => {
    const table = "| name | middle | amount |\n|:--|:-:|--:|\n| a | b | 1 |\n| b | 日 | 12 apples and 日 |";
    expect(draw(table, 34)).toEqual([
      "┌──────┬────────┬────────────────┐",
      "│ name │ middle │         amount │",
      "├──────┼────────┼────────────────┤",
      "│ a    │   b    │              1 │",
      "├──────┼────────┼────────────────┤",
      "│ b    │   日   │  12 apples and │",
      "│      │        │             日 │",
      "└──────┴────────┴────────────────┘",
    ]);
  });

  test("styles are those of the theme, and each text ends its own", () => {
    expect(draw("# a `b`", 200, tagged)).toEqual([
      "<heading><bold><underline>a </underline></bold></heading><code>b</code>",
    ]);
    expect(draw("**a *b* `c`**", 200, tagged)).toEqual([
      "<bold>a </bold><bold><italic>b</italic></bold><bold> </bold><bold><code>c</code></bold>",
    ]);
    expect(draw("> a", 200, tagged)).toEqual(["<quoteBorder>│ </quoteBorder><quote><italic>a</italic></quote>"]);
  });

  test("formulas are shown as they are written if asked for", () => {
    const markdown = new Markdown("$x^2$\n\n$$x^2$$", 0, 0, plain, undefined, { renderLatex: false });
    expect(markdown.render(10).map((text) => text.trimEnd())).toEqual(["$x^2$", "", "$$x^2$$"]);
  });

  test("markers and escapes of the source are kept if asked for", () => {
    const options = { preserveOrderedListMarkers: true, preserveBackslashEscapes: true };
    const lines = new Markdown("3) a\n9) \\* b\n\n* c", 0, 0, plain, undefined, options).render(20);
    expect(lines.map((text) => text.trimEnd())).toEqual(["3) a", "9) \\* b", "", "* c"]);
  });

  test("a terminal that can open links gets the address in an escape sequence instead of the text", () => {
    setCapabilities({ ...getCapabilities(), hyperlinks: true });
    const [line = ""] = new Markdown("[a](http://x)", 0, 0, plain).render(3);
    expect([stripTerminalSequences(line), getOsc8LinkAtColumn(line, 0)]).toEqual(["a  ", "http://x"]);
  });

  test("padding and background reach over the whole line", () => {
    const markdown = new Markdown("a", 2, 1, plain, { bgColor: (text) => `[${text}]` });
    expect(markdown.render(6)).toEqual(["[      ]", "[  a   ]", "[      ]"]);
  });

  test("no control character of the source comes through, not even as an entity or in an address", () => {
    const attack =
      "\x1b[31mred\x07 `\x1b]0;t\x07c` &#27;[2J [a](http://x\x1b]8;;) \u009b31m\n\n```\x1b[1m\n\x1b[2Jx\x00\n```";
    const lines = new Markdown(attack, 0, 0, plain).render(60);
    expect(lines.join("")).not.toMatch(/[\x00-\x1f\x7f-\x9f]/);
    expect(lines[0]).toContain("red");
  });

  test("an item loses no letter if its marker takes all the room", () => {
    expect(draw("- [ ] todo\n- [x] 日本", 6)).toEqual(["- [ ]", "todo", "- [x]", "日本"]);
    expect(draw("- [ ] to", 7)).toEqual(["- [ ]", "to"]);
    expect(draw("- [ ] to", 8)).toEqual(["- [ ] to"]);
  });

  test("no line is wider than asked for", () => {
    fc.assert(
      fc.property(source, fc.integer({ min: 2, max: 30 }), (markdown, width) => {
        for (const text of new Markdown(markdown, 1, 0, colored).render(width)) expect(visibleWidth(text)).toBe(width);
      }),
    );
  });
});

describe("streaming", () => {
  test("the result does not depend on how the text was cut, nor on when it was drawn", () => {
    fc.assert(
      fc.property(source, fc.array(fc.nat(60), { maxLength: 12 }), (markdown, cuts) => {
        const streamed = new Markdown("", 0, 0, colored);
        let rest = markdown;
        for (const cut of cuts) {
          streamed.append(rest.slice(0, cut));
          rest = rest.slice(cut);
          const sofar = markdown.slice(0, markdown.length - rest.length);
          expect(streamed.render(24)).toEqual(new Markdown(sofar, 0, 0, colored).render(24));
        }
        streamed.setText(markdown);
        expect(streamed.render(24)).toEqual(new Markdown(markdown, 0, 0, colored).render(24));
      }),
      { numRuns: process.env["TAU_LONG"] ? 500 : 150 },
    );
  });

  test("a link stays one when the text before its definition is complete and the definition is not", () => {
    const parts = ["see [Other]\n\n[other]: <http://v>", " 'title'\n"];
    const streamed = new Markdown("", 0, 0, plain);
    for (const part of parts) {
      streamed.append(part);
      expect(streamed.render(40)[0]?.trimEnd()).toBe("see Other (http://v)");
    }
  });

  test("the result is that of the lexer for the whole text", () => {
    // A line that begins with "<" ends a paragraph, also before an underline: there the lexer makes a heading of both. And
    // it takes an indented line of a paragraph, with a rule and a line below, for a table.
    const isKnownDifference = (markdown: string) =>
      /^ *<.*\n(.+\n)*[ ]*[-=]+$/m.test(markdown) || /^ {4,}.*\n---$/m.test(markdown);
    const toText = (lines: string[]) => lines.map((text) => stripTerminalSequences(text).trimEnd());
    fc.assert(
      fc.property(source, (markdown) => {
        if (markdown.trim() === "" || isKnownDifference(markdown)) return;
        const look = { theme: colored, options: {}, text: (text: string) => text };
        const whole = new MarkdownDrawing(look, 24).drawBlocks([
          ...new Lexer({ gfm: true, extensions: formulaExtensions }).lex(markdown),
        ]);
        expect(toText(new Markdown(markdown, 0, 0, colored).render(24))).toEqual(toText(whole));
      }),
      { numRuns: process.env["TAU_LONG"] ? 2_000 : 700, seed: 1 },
    );
  });

  const paragraphs = (index: number) => `Some **text** number ${index}.\n\n`;
  const items = (index: number) => `- item ${index} with some \`code\`\n`;
  const rows = (index: number) => `${index === 0 ? "| a | b |\n|---|---|\n" : ""}| cell ${index % 7} | text |\n`;
  const code = (index: number) => `${index === 0 ? "```js\n" : ""}const value${index} = ${index};\n`;
  const mixed = (index: number) => `## Part ${index}\n\nText.\n\n- a\n- b\n\n\`\`\`js\nx();\n\`\`\`\n\n`;
  test.each(Object.entries({ paragraphs, items, rows, code, mixed }))(
    "one more delta costs the same at the end of a long text as at its beginning: %s",
    (_, create) => {
      const text = Array.from({ length: 2_400 }, (_, index) => create(index)).join("");
      const look = { theme: plain, options: {}, text: (value: string) => value };
      const stream = new MarkdownStream();
      const lines = new MarkdownLines({ stream, look, width: 60, pad: (line) => line });
      const costs: number[] = [];
      for (let index = 0; index < 8_000; index++) {
        const before = lines.work;
        stream.append(text.slice(index * 5, index * 5 + 5));
        lines.invalidate();
        // A person sees some of the deltas only; the lines are asked for as often as a screen is drawn.
        if (index % 16 === 0) lines.slice(lines.count - 40, lines.count);
        costs.push(lines.work - before);
      }
      const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);
      expect(sum(costs.slice(-1000))).toBeLessThanOrEqual(1.3 * sum(costs.slice(0, 1000)));
    },
  );

  test("lines of a fence are highlighted once, by a function that goes on from the line before", () => {
    const calls: string[] = [];
    const highlightCodeLine = (text: string, lang: string | undefined, state: unknown) => {
      calls.push(text);
      const number = ((state as number | undefined) ?? 0) + 1;
      return { line: `${lang}${number}:${text}`, state: number };
    };
    const markdown = new Markdown("```js\n", 0, 0, { ...plain, highlightCodeLine });
    for (const delta of ["a\n", "b\n", "c", "d\n", "```"]) {
      markdown.append(delta);
      markdown.render(20);
    }
    expect(markdown.render(20).map((text) => text.trimEnd())).toEqual(["  js1:a", "  js2:b", "  js3:cd"]);
    expect(calls).toEqual(["a", "b", "c", "cd"]);
  });

  test("another width or theme draws what was lexed before, also while text arrives", () => {
    fc.assert(
      fc.property(source, fc.array(fc.tuple(fc.nat(40), fc.integer({ min: 5, max: 30 }))), (markdown, steps) => {
        const streamed = new Markdown("", 0, 0, colored);
        let end = 0;
        for (const [length, width] of steps) {
          end += length;
          streamed.setText(markdown.slice(0, end));
          if (length % 3 === 0) streamed.invalidate();
          expect(streamed.render(width)).toEqual(new Markdown(markdown.slice(0, end), 0, 0, colored).render(width));
        }
      }),
      { numRuns: process.env["TAU_LONG"] ? 300 : 100 },
    );
  });

  test("while nothing changes the same array comes back, and a text that is not longer begins anew", () => {
    const markdown = new Markdown("a", 0, 0, plain);
    expect(markdown.render(3)).toBe(markdown.render(3));
    markdown.setText("b");
    expect(markdown.render(3)).toEqual(["b  "]);
  });

  test.each([
    ["", "word and word ".repeat(4)],
    ["", "> a quoted line of a long message"],
    ["- item\n", "some line of a log"],
    ["- item\n\n  ```\n", "  some line of code in an item"],
    ["<div>\n", "- some line in a block of HTML"],
    ["$$\n", "- some line of a formula without an end"],
  ])("30,000 lines without a blank one between them take as long each as few: %j, %s", (start, line) => {
    const stream = new MarkdownStream();
    const before = process.cpuUsage();
    stream.append(start + `${line}\n`.repeat(30_000));
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1000, "milliseconds").toBeLessThan(6_000);
  });
});
