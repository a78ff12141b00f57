import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { markdownHtml } from "./markdown-html.ts";
import { checkHtml } from "../../test/export/check-html.ts";
import { inlineMarkdown, markdown } from "../../test/export/random-markdown.ts";

const link = (url: string, text: string, title = "") =>
  `<a href="${url}"${title && ` title="${title}"`} rel="noopener noreferrer" target="_blank">${text}</a>`;

describe("inline Markdown", () => {
  test.each([
    [
      "*a* _b_ **c** __d__ ***e*** ~~f~~ ~g~",
      "<em>a</em> <em>b</em> <strong>c</strong> <strong>d</strong> <em><strong>e</strong></em> <del>f</del> <del>g</del>",
    ],
    ["**a *b***", "<strong>a <em>b</em></strong>"],
    ["*a **b** c*", "<em>a <strong>b</strong> c</em>"],
    ["snake_case_name and 2 * 3 * 4", "snake_case_name and 2 * 3 * 4"],
    ["**never closed and *half*", "**never closed and <em>half</em>"],
    ["\\*a\\* \\a", "*a* \\a"],
    ["`a<b` ``c`d`` ` e", "<code>a&lt;b</code> <code>c`d</code> ` e"],
    ["`**a**` *`b*`", "<code>**a**</code> *<code>b*</code>"],
    ["a\nb", "a<br>\nb"],
    ["a  \nb", "a<br>\nb"],
    ["&lt; &#60; &#x202e;", "&amp;lt; &amp;#60; &amp;#x202e;"],
    ['[a *b*](https://x.example/c_d_e?f=1&g=2 "t")', link("https://x.example/c_d_e?f=1&amp;g=2", "a <em>b</em>", "t")],
    [
      "[a](https://x.example/(b)) [c](mailto:d@e.example)",
      `${link("https://x.example/(b)", "a")} ${link("mailto:d@e.example", "c")}`,
    ],
    ["![a](https://x.example/p.png)", link("https://x.example/p.png", "a")],
    ["[![a](https://x.example)](https://y.example)", link("https://y.example", "a")],
    ["[<https://x.example>](https://y.example)", link("https://y.example", "https://x.example")],
    ["[a] [b](c d) [e](", "[a] [b](c d) [e]("],
    ["[a](javascript:b)", '<span>a</span> <span class="url">(javascript:b)</span>'],
    ["[a](//x.example)", '<span>a</span> <span class="url">(//x.example)</span>'],
    ["<javascript:a>", "&lt;javascript:a&gt;"],
    [
      "see https://x.example/a_b_c, or (https://y.example).",
      `see ${link("https://x.example/a_b_c", "https://x.example/a_b_c")}, or (${link("https://y.example", "https://y.example")}).`,
    ],
    [
      "www.x.example and a@x.example",
      `${link("http://www.x.example", "www.x.example")} and ${link("mailto:a@x.example", "a@x.example")}`,
    ],
    ["<https://x.example> <b>", `${link("https://x.example", "https://x.example")} &lt;b&gt;`],
    ["[a `]` b](https://x.example)", link("https://x.example", "a <code>]</code> b")],
    ["*a _b* c_", "<em>a _b</em> c_"],
    ["*a [b*](https://x.example)", `*a ${link("https://x.example", "b*")}`],
  ])("%s", (markdown, html) => {
    expect(markdownHtml(markdown)).toBe(`<p>${html}</p>`);
  });
});

describe("blocks", () => {
  test("headings are below those of the page", () => {
    expect(markdownHtml("# a *b*\n## c ##\ntext\n###### d\n#no\n\ne\n===").split("\n")).toEqual([
      "<h3>a <em>b</em></h3>",
      "<h4>c</h4>",
      "<p>text</p>",
      "<h6>d</h6>",
      "<p>#no</p>",
      "<h3>e</h3>",
    ]);
  });

  test("a fence keeps its text unchanged, and reaches to the end if it is not closed", () => {
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

  test("lists nest, keep their numbers and their tasks, and hold code", () => {
    expect(markdownHtml("3. a\n   - b\n   - [x] c\n4. d\n   ```\n   e\n   ```\n\n- f")).toBe(
      [
        '<ol start="3">',
        "<li>a\n<ul>\n<li>b</li>\n<li>☑ \nc</li>\n</ul></li>",
        '<li>d\n<figure class="code"><pre><code>e</code></pre></figure></li>',
        "</ol>",
        "<ul>\n<li>f</li>\n</ul>",
      ].join("\n"),
    );
  });

  test("a list with blank lines in its items has paragraphs, and text may continue without an indent", () => {
    expect(markdownHtml("- a\nb\n\n  c\n- [ ] d\n\nafter")).toBe(
      "<ul>\n<li><p>a<br>\nb</p>\n<p>c</p></li>\n<li><p>☐ d</p></li>\n</ul>\n<p>after</p>",
    );
  });

  test("tables have alignments, and every row has as many cells as the header", () => {
    expect(markdownHtml("x\n| a | b | c |\n|:--|--:|:-:|\n| 1 | `2` | 3 | 4 |\n| 5 \\| 6 |\n\n---")).toBe(
      [
        "<p>x</p>",
        '<div class="table"><table><thead><tr><th>a</th><th class="right">b</th><th class="center">c</th></tr></thead>' +
          '<tbody><tr><td>1</td><td class="right"><code>2</code></td><td class="center">3</td></tr>',
        '<tr><td>5 | 6</td><td class="right"></td><td class="center"></td></tr></tbody></table></div>',
        "<hr>",
      ].join("\n"),
    );
  });

  test("quotes hold blocks", () => {
    expect(markdownHtml("> a\n> - b\n>\n>> c")).toBe(
      "<blockquote><p>a</p>\n<ul>\n<li>b</li>\n</ul>\n<blockquote><p>c</p></blockquote></blockquote>",
    );
  });

  test("HTML is shown as text, and Markdown between its tags is drawn", () => {
    expect(markdownHtml("<div>\n**a**\n</div>\n\n<!-- b\n\nc -->")).toBe(
      "<p>&lt;div&gt;<br>\n<strong>a</strong></p>\n<p>&lt;/div&gt;</p>\n<p>&lt;!-- b</p>\n<p>c --&gt;</p>",
    );
  });

  test("references are resolved, and their definitions are shown", () => {
    expect(markdownHtml("[a][x] [b]\n\n[x]: https://x.example\n[b]: javascript:c")).toBe(
      [
        `<p>${link("https://x.example", "a")} <span>b</span> <span class="url">(javascript:c)</span></p>`,
        "<p>[x]: https://x.example</p>",
        "<p>[b]: javascript:c</p>",
      ].join("\n"),
    );
  });
});

test("whatever the Markdown, the HTML is well-formed and has only known tags", () => {
  fc.assert(
    fc.property(fc.oneof(markdown, inlineMarkdown), (text) => {
      expect(checkHtml(markdownHtml(text)).faults).toEqual([]);
    }),
    { numRuns: 2_000 },
  );
});

test("words are never lost", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(markdown, fc.stringMatching(/^[k-z]{3}$/)), { maxLength: 6 }), (parts) => {
      // A row of a table loses the cells for which there is no column.
      const text = parts.map(([before, word]) => `${before.replaceAll("|", "")}${word}`).join("");
      const { text: shown, links } = checkHtml(markdownHtml(text));
      for (const [, word] of parts) expect(`${shown} ${links.join(" ")}`).toContain(word);
    }),
    { numRuns: 1_000 },
  );
});
