import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { markdownHtml } from "./markdown-html.ts";
import { prose } from "./prose.ts";
import { checkHtml } from "../../test/export/check-html.ts";

const link = (url: string, text: string) => `<a href="${url}" rel="noopener noreferrer" target="_blank">${text}</a>`;

describe("inside a block", () => {
  test.each([
    [
      "*a* _b_ **c** __d__ ***e*** ~~f~~",
      "<em>a</em> <em>b</em> <strong>c</strong> <strong>d</strong> <em><strong>e</strong></em> <del>f</del>",
    ],
    ["**a *b***", "<strong>a <em>b</em></strong>"],
    ["*a **b** c*", "<em>a <strong>b</strong> c</em>"],
    ["snake_case_name and 2 * 3 * 4 and ~a~", "snake_case_name and 2 * 3 * 4 and ~a~"],
    ["**never closed and *half*", "**never closed and <em>half</em>"],
    ["\\*a\\* \\a", "*a* \\a"],
    ["`a<b` ``c`d`` ` e", "<code>a&lt;b</code> <code>c`d</code> ` e"],
    ["`**a**` *`b*`", "<code>**a**</code> *<code>b*</code>"],
    ["a\nb", "a<br>\nb"],
    ['[a *b*](https://x.example/c_d_e?f=1&g=2 "t")', link("https://x.example/c_d_e?f=1&amp;g=2", "a <em>b</em>")],
    [
      "[a](https://x.example/(b)) [c](mailto:d@e.example)",
      `${link("https://x.example/(b)", "a")} ${link("mailto:d@e.example", "c")}`,
    ],
    ["![a](https://x.example/p.png)", link("https://x.example/p.png", "a")],
    ["[a] [b](c d) [e](", "[a] [b](c d) [e]("],
    ["[a](javascript:b)", '<span>a</span> <span class="url">(javascript:b)</span>'],
    [
      "see https://x.example/a_b_c, or (https://y.example).",
      `see ${link("https://x.example/a_b_c", "https://x.example/a_b_c")}, or (${link("https://y.example", "https://y.example")}).`,
    ],
    ["<https://x.example> <b>", `${link("https://x.example", "https://x.example")} &lt;b&gt;`],
    ["[a `]` b](https://x.example)", link("https://x.example", "a <code>]</code> b")],
    ["[a [b](https://x.example) c](https://y.example)", link("https://y.example", "a [b](https://x.example) c")],
    ["*a _b* c_", "<em>a _b</em> c_"],
    ["*a [b*](https://x.example)", `*a ${link("https://x.example", "b*")}`],
  ])("%s", (markdown, html) => {
    expect(markdownHtml(markdown)).toBe(`<p>${html}</p>`);
  });
});

describe("blocks", () => {
  const lines = (markdown: string) => markdownHtml(markdown).split("\n");

  test("headings are below those of the page", () => {
    expect(lines("# a *b*\n## c ##\ntext\n###### d\n#no")).toEqual([
      "<h3>a <em>b</em></h3>",
      "<h4>c</h4>",
      "<p>text</p>",
      "<h6>d</h6>",
      "<p>#no</p>",
    ]);
  });

  test("a fence keeps everything as it is, and goes on to the end when nothing closes it", () => {
    expect(markdownHtml("a\n````ts\n```\n  <b> *c*\n````\nd\n~~~\ne")).toBe(
      [
        "<p>a</p>",
        '<figure class="code"><figcaption>ts</figcaption><pre><code>```',
        "  &lt;b&gt; *c*</code></pre></figure>",
        "<p>d</p>",
        '<figure class="code"><pre><code>e</code></pre></figure>',
      ].join("\n"),
    );
  });

  test("lists nest, keep their numbers and their tasks, and take code", () => {
    expect(markdownHtml("3. a\n   - b\n   - [x] c\n4. d\n   ```\n   e\n   ```\n\n- f")).toBe(
      [
        '<ol start="3">',
        "<li>a\n<ul>\n<li>b</li>\n<li>☑ c</li>\n</ul></li>",
        '<li>d\n<figure class="code"><pre><code>e</code></pre></figure></li>',
        "</ol>",
        "<ul>\n<li>f</li>\n</ul>",
      ].join("\n"),
    );
  });

  test("items with blank lines between their parts have paragraphs, and text may go on without an indent", () => {
    expect(markdownHtml("- a\nb\n\n  c\n- d\n\nafter")).toBe(
      "<ul>\n<li><p>a<br>\nb</p>\n<p>c</p></li>\n<li>d</li>\n</ul>\n<p>after</p>",
    );
  });

  test("tables have alignments, and a row has no more cells than its head", () => {
    expect(markdownHtml("x\n| a | b | c |\n|:--|--:|:-:|\n| 1 | `2` | 3 | 4 |\n| 5 \\| 6 |\n\n---")).toBe(
      [
        "<p>x</p>",
        '<div class="table"><table><thead><tr><th>a</th><th class="right">b</th><th class="mid">c</th></tr></thead>' +
          '<tbody><tr><td>1</td><td class="right"><code>2</code></td><td class="mid">3</td></tr>',
        "<tr><td>5 | 6</td></tr></tbody></table></div>",
        "<hr>",
      ].join("\n"),
    );
  });

  test("quotes hold blocks", () => {
    expect(markdownHtml("> a\n> - b\n>> c")).toBe(
      "<blockquote><p>a</p>\n<ul>\n<li>b</li>\n</ul>\n<blockquote><p>c</p></blockquote></blockquote>",
    );
  });
});

/** What Markdown is made of, so that chance meets it. */
const markdown = fc
  .array(
    fc.constantFrom(
      ..."* ** *** _ __ ~~ ` `` ``` ~~~ [ ] ( ) ![ ]( <> < > & \" ' \\ | - + # 1. 2) > = : a b".split(" "),
      ..."https://x.example javascript:a mailto:a <script> </p> |---| \n \n\n".split(" "),
      " ",
      "  ",
      "    ",
      "\n",
      "\n\n",
      "\t",
      "\n- ",
      "\n> ",
      "\n1. ",
      "\n| a | b |\n|---|---|\n",
      "\ud800",
      "\u0000",
    ),
    { maxLength: 60 },
  )
  .map((parts) => parts.join(""));

/** The same for what stands inside one line. */
const inline = fc
  .array(fc.constantFrom("*", "**", "_", "~~", "`", "[", "](https://x.example)", "https://y.example", "a", " "), {
    maxLength: 24,
  })
  .map((parts) => parts.join(""));

test("whatever the Markdown, the HTML is well-formed and only ours", () => {
  fc.assert(
    fc.property(fc.oneof(markdown, inline), (text) => {
      expect(checkHtml(markdownHtml(text)).faults).toEqual([]);
    }),
    { numRuns: 2_000 },
  );
});

test("letters and digits are never lost", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(markdown, fc.stringMatching(/^[k-z]{3}$/)), { maxLength: 6 }), (parts) => {
      // Titles of links, and cells beyond a table's head, are left out on purpose.
      const text = parts.map(([before, word]) => `${before.replace(/["'|]/g, "")}${word}`).join("");
      const shown = checkHtml(markdownHtml(text)).text;
      const links = checkHtml(markdownHtml(text)).links.join(" ");
      for (const [, word] of parts) expect(`${shown} ${links}`).toContain(word);
    }),
    { numRuns: 500 },
  );
});

describe("texts made to be slow take time by their length only", () => {
  const size = 100_000;
  const measureMs = (work: () => void) => {
    const start = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1_000;
  };

  // Each is read nearly to its end before it turns out to be something else.
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
  ])("%j, %j again and again, then %j", (before, piece, after) => {
    const text = before + piece.repeat(size / piece.length) + after;
    expect(measureMs(() => markdownHtml(text))).toBeLessThan(500);
    expect(measureMs(() => prose(text))).toBeLessThan(500);
  });

  test.each([
    "*a ",
    "a_ *b ",
    "~~a *b ",
    "[",
    "[a](",
    "[a](b ",
    "[a](<",
    '![a](b "',
    "`",
    "`` ` ",
    "<",
    "<http://",
    "h",
    "https://a)",
    "\\",
    "> ",
    "- ",
    "- \n",
    "1. a\n",
    "|",
    "|-",
    "| a\n",
    "#",
    "# ",
    "# #",
    "\n",
    " ",
    "\t",
    "```",
    "```\n",
    "~~~a\n",
    " \n- a\n  ",
    "a|b\n-|-\n",
    "=\n",
    "- - ",
    "***",
    "_a_",
    "http://a.example ",
  ])("%j", (piece) => {
    const text = piece.repeat(Math.ceil(size / piece.length));
    expect(measureMs(() => markdownHtml(text))).toBeLessThan(1_000);
    expect(markdownHtml(text).length).toBeLessThan(60 * text.length);
  });

  test("emphasis in emphasis is nested only so deep", () => {
    const html = markdownHtml("*a ".repeat(50) + "b* ".repeat(50));
    expect(html.match(/<em>/g)).toHaveLength(16);
  });

  test("a narrow text does not become a wide table", () => {
    const text = `${"|a".repeat(5_000)}|\n${"|-".repeat(5_000)}|\n${"|\n".repeat(5_000)}`;
    expect(markdownHtml(text).length).toBeLessThan(50 * text.length);
  });
});
