import { readFileSync } from "node:fs";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { fitPages } from "../../src/documents/show-pdf.ts";
import { extractPdfText } from "../../src/pdf/extract-text.ts";
import { createPage, type PdfObjects, writePdf } from "../pdf/pdf-writer.ts";
import { createZip } from "./zip-writer.ts";
import { describeRead, readDocument, withFiles } from "./read-kit.ts";

const show = (text: string) => `BT /F1 12 Tf 72 700 Td (${text}) Tj ET`;

/** Each page has its number as its text. */
function manyPages(count: number, getText = (page: number) => `text ${page}`): Buffer {
  const numbers = Array.from({ length: count }, (_unused, index) => index + 1);
  const objects: PdfObjects = {
    ...createPage(show("x")),
    2: `<< /Type /Pages /Kids [${numbers.map((page) => `${page * 2 + 100} 0 R`).join(" ")}] /Resources << /Font << /F1 5 0 R >> >> >>`,
    ...Object.fromEntries(
      numbers.flatMap((page) => [
        [page * 2 + 100, `<< /Type /Page /Contents ${page * 2 + 101} 0 R >>`],
        [page * 2 + 101, { dict: "", data: show(getText(page)) }],
      ]),
    ),
  };
  return writePdf(objects);
}

describe("a PDF", () => {
  test("is shown by its pages, which offset and limit count", async () => {
    const cwd = withFiles({ "a.pdf": manyPages(5) });
    expect(await readDocument(cwd, { path: "a.pdf", offset: 2, limit: 2 })).toMatchObject({
      text: "[Page 2 of 5]\ntext 2\n\n[Page 3 of 5]\ntext 3\n\n[Showing pages 2-3 of 5. Continue with offset=4.]",
      details: { path: join(cwd, "a.pdf"), firstLine: 2, shownLines: 2, totalLines: 5, unit: "pages" },
    });
    expect((await readDocument(cwd, { path: "a.pdf", offset: 5 })).text).toBe("[Page 5 of 5]\ntext 5");
    expect(await describeRead(cwd, { path: "a.pdf", offset: 6 })).toBe(
      "invalid_input: Page 6 is beyond the end of a.pdf, which has 5.",
    );
  });

  test("in an archive is shown too, and has no parts itself", async () => {
    const cwd = withFiles({ "a.zip": createZip([{ name: "b.pdf", content: manyPages(1) }]), "a.pdf": manyPages(1) });
    expect((await readDocument(cwd, { path: "a.zip#b.pdf" })).text).toBe("[Page 1 of 1]\ntext 1");
    expect(await describeRead(cwd, { path: "a.pdf#1" })).toMatch(/^not_found: /);
  });

  test("with long pages is shown as far as the limit allows, and continues", async () => {
    const cwd = withFiles({ "a.pdf": manyPages(30, (page) => `${page} ${"word ".repeat(1_000)}`) });
    const seen: string[] = [];
    for (let offset: number | undefined = 1; offset !== undefined;) {
      const { text } = await readDocument(cwd, { path: "a.pdf", offset });
      expect(Buffer.byteLength(text)).toBeLessThan(51 * 1024);
      seen.push(...[...text.matchAll(/\[Page (\d+) of 30\]/g)].map(([, page]) => page!));
      const next = /offset=(\d+)/.exec(text)?.[1];
      offset = next === undefined ? undefined : Number(next);
    }
    expect(seen).toEqual(Array.from({ length: 30 }, (_unused, index) => String(index + 1)));
  });

  test("of one endless page is cut, and a character is not cut in two", () => {
    expect(fitPages(["ä".repeat(60_000), "b"])).toEqual({ texts: ["ä".repeat(25_600)], isCut: true });
    expect(fitPages([`${"\n".repeat(5_000)}x`]).texts[0]).toHaveLength(1_999);
    expect(fitPages(["a", "b"])).toEqual({ texts: ["a", "b"], isCut: false });
  });
});

const form = (data: string): PdfObjects => ({
  ...createPage("/Fm Do"),
  6: { dict: "/Subtype /Form /Resources << /XObject << /Fm 6 0 R >> >>", data },
  2: "<< /Type /Pages /Kids [3 0 R 2 0 R] /Resources << /XObject << /Fm 6 0 R >> >> >>",
});
const encrypted = (name: string) => readFileSync(join(import.meta.dirname, "../pdf/encrypted", `${name}.pdf`));

/** Name, file, and what has to be said. */
const hostile: [string, () => Buffer, RegExp][] = [
  [
    "is a bomb",
    () => writePdf(createPage(deflateSync(Buffer.alloc(70_000_000)), {}, "/Filter /FlateDecode")),
    /too large/,
  ],
  ["is nested deeply", () => writePdf(createPage(`${"[".repeat(5_000)} Tj`)), /damaged/],
  ["draws and contains itself", () => writePdf(form("/Fm Do /Fm Do")), /has no text|images/],
  ["needs a password", () => encrypted("password"), /encrypted/],
  ["was cut off", () => manyPages(3).subarray(0, 300), /damaged|no text/],
  ["is only its first line", () => Buffer.from("%PDF-1.7\n"), /damaged/],
  [
    "has tables in a circle",
    () => Buffer.from("%PDF-1.4\nxref\n0 1\n0000000000 65535 f \ntrailer\n<< /Prev 9 >>\nstartxref\n9\n%%EOF"),
    /damaged/,
  ],
  [
    "has a billion objects",
    () => Buffer.from("%PDF-1.4\nxref\n0 1000000000\ntrailer\n<< >>\nstartxref\n9\n%%EOF"),
    /damaged/,
  ],
  ["refers to itself", () => writePdf(createPage(show("x"), { 2: "2 0 R" })), /damaged/],
  ["has streams without an end", () => Buffer.from(`%PDF-1.4 ${"1 0 obj <</A 1>> stream ".repeat(10_000)}`), /damaged/],
];

describe("a hostile PDF", () => {
  test.each(hostile)("that %s is refused with a sentence", async (_name, create, said) => {
    const cwd = withFiles({ "a.pdf": create() });
    const text = await describeRead(cwd, { path: "a.pdf" });
    expect(text).toMatch(/^binary: a\.pdf could not be read\./);
    expect(text).toMatch(said);
  });

  test.each([
    ["has a long page", writePdf(createPage("0 0 Td ".repeat(400_000)))],
    ["has no table, and many objects", Buffer.from(`%PDF-1.4 ${"1 0 obj <</A 1>> endobj ".repeat(200_000)}`)],
    [
      "has a table of many rows",
      Buffer.from(`%PDF-1.4\nxref\n0 900000\n${"1 0 n ".repeat(900_000)}startxref\n9\n%%EOF`),
    ],
  ])("that %s lets others work in between, and ends when it is aborted", async (_name, bytes) => {
    const controller = new AbortController();
    let turns = 0;
    const count = () => {
      turns++;
      if (turns === 3) controller.abort(new Error("enough"));
      else setImmediate(count);
    };
    setImmediate(count);
    await expect(extractPdfText(bytes, { signal: controller.signal })).rejects.toThrow("enough");
  });

  test("with hundreds of thousands of trailers does not take a time that grows with their square", async () => {
    const bytes = Buffer.from(
      `%PDF-1.4 ${Array.from({ length: 200_000 }, (_unused, index) => `trailer<</K${index} 1>>`).join(" ")}`,
    );
    expect(await extractPdfText(bytes)).toMatchObject({ kind: "damaged" });
  });
});
