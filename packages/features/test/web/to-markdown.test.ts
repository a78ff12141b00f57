/** Pages of many layouts as Markdown, beside the Markdown that is expected of them. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { htmlToMarkdown } from "../../src/web/markdown/to-markdown.ts";

const pages = join(import.meta.dirname, "fixtures/pages");
const names = readdirSync(pages).flatMap((name) => (name.endsWith(".html") ? [name.slice(0, -5)] : []));

test("there are twenty layouts", () => {
  expect(names.length).toBeGreaterThanOrEqual(20);
});

test.each(names)("%s", async (name) => {
  const html = readFileSync(join(pages, `${name}.html`), "utf8");
  const { title, markdown } = htmlToMarkdown(html, "https://kites.example/docs/page.html");
  await expect(`${title}\n\n${markdown}\n`).toMatchFileSnapshot(join(pages, `${name}.md`));
});

test("a page says what it has besides its text", () => {
  const read = (name: string) =>
    htmlToMarkdown(readFileSync(join(pages, `${name}.html`), "utf8"), "https://kites.example/docs/page.html");
  expect(read("docs-docusaurus")).toMatchObject({
    description: "How to install Kite.",
    markdownUrl: "https://kites.example/docs/install.md",
  });
  expect(read("single-page-app")).toMatchObject({ textLength: 0, hasScripts: true, markdown: "" });
  expect(read("mailing-list").hasScripts).toBe(false);
});

/** The parts of a page that cost more than others: deep, many, unclosed, unmatched. */
const large: readonly (readonly [name: string, html: (count: number) => string])[] = [
  ["nested elements", (count) => `${"<div>".repeat(count)}x${"</div>".repeat(count)}`],
  ["nested quotes, lists and tables", (count) => "<blockquote><ul><li><b><table><tr><td>".repeat(count / 4)],
  ["ends of elements that are not open", (count) => "<b>".repeat(count) + "</i>".repeat(count)],
  ["ends outside of a cell", (count) => `<i><table><tr><td>${"<b>".repeat(count)}${"</i></p>".repeat(count)}`],
  ["ends outside of lists", (count) => `<div>${"<ul>".repeat(count)}${"</div><div>".repeat(count)}`],
  ["menus in menus", (count) => "<nav class=content>".repeat(count) + "x<p>y".repeat(count)],
  ["marks in marks", (count) => "<b><i><a href=x>".repeat(count) + "`x`".repeat(count)],
  ["a table", (count) => `<table>${"<tr><td>a</td><td><a href='/x'>b</a></td></tr>".repeat(count)}</table>`],
  ["cells over all rows", (count) => `<table>${"<tr><td rowspan=9999 colspan=9999>a".repeat(count)}`],
];

test.each(large)("the time for %s grows with the page", (_name, create) => {
  const measure = (count: number): number => {
    const html = create(count);
    const times = [0, 1].map(() => {
      const before = process.cpuUsage();
      htmlToMarkdown(html, "https://kites.example/");
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1_000;
    });
    return Math.min(...times);
  };
  // Eight times the page took 64 times as long if each part looked at all others. Short times are not compared.
  expect(measure(16_000)).toBeLessThan(Math.max(25, measure(2_000)) * 32);
});

test.each([
  ["spans of cells", `<table>${`<tr>${"<td colspan=50 rowspan=50>x".repeat(10)}`.repeat(2_000)}`],
  ["small tables with spans", "<table><tr><td colspan=50>x<td>y<tr><td>z<td>z</table>".repeat(10_000)],
  ["a long base", `<base href="https://x.example/${"a/".repeat(100_000)}">${"<a href=y>z</a>".repeat(2_000)}`],
  [
    "a base of the usual length",
    `<base href="https://x.example/${"a".repeat(1_900)}/">${"<a href=y>z</a>".repeat(50_000)}`,
  ],
])("the text does not grow beyond its page: %s", (_name, html) => {
  const { markdown } = htmlToMarkdown(html, "https://kites.example/");
  expect(markdown.length).toBeLessThan(10 * 1024 * 1024 + html.length * 10);
});

test("no page makes it fail, and all of its words are in the text or were left out with their element", () => {
  const tags = ["p", "div", "ul", "li", "table", "tr", "td", "b", "a", "pre", "code", "h2", "blockquote", "dl", "dd"];
  const piece = fc.oneof(
    fc.constantFrom(...tags).map((tag) => `<${tag}>`),
    fc.constantFrom(...tags).map((tag) => `</${tag}>`),
    fc.integer({ min: 100, max: 999 }).map((word) => ` w${word} `),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
      const { markdown } = htmlToMarkdown(pieces.join(""), "https://kites.example/");
      expect(markdown.match(/w\d{3}/g) ?? []).toEqual(pieces.join("").match(/w\d{3}/g) ?? []);
    }),
    { numRuns: 500 },
  );
});
