/** Texts of PDFs: layouts, fonts, filters, and files that are damaged or hostile. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import fc from "fast-check";
import { expect, test } from "vitest";
import { extractPdfText, type PdfLimits } from "../../src/pdf/extract-text.ts";
import { decodeAscii85, decodeLzw } from "../../src/pdf/filters.ts";
import { getGlyphText } from "../../src/pdf/glyph-names.ts";
import { createPage, type PdfObjects, writeCompressedPdf, writePdf } from "./pdf-writer.ts";

const read = (bytes: Uint8Array, limits?: PdfLimits) => extractPdfText(bytes, limits);
const readText = async (bytes: Uint8Array): Promise<string> => {
  const result = await read(bytes);
  return result.kind === "text" ? result.pages.join("\f") : `${result.kind}: ${result.message}`;
};
const show = (text: string) => `BT /F1 12 Tf 72 700 Td (${text}) Tj ET`;

const lines = `BT /F1 12 Tf 14 TL 72 700 Td (The first line) Tj T* (and the second) Tj
0 -40 Td [(Wo) 20 (rds) -300 (apart)] TJ 200 0 Td (column) Tj ET
q 1 0 0 1 72 500 cm BT /F1 12 Tf (moved) ' ET Q`;

test.each<[name: string, bytes: Buffer, text: string]>([
  [
    "lines, columns and paragraphs",
    writePdf(createPage(lines)),
    "The first line\nand the second\n\nWords apart column\n\nmoved",
  ],
  ["an object stream and a table as a stream", writeCompressedPdf(createPage(show("Packed"))), "Packed"],
  ["Flate", writePdf(createPage(deflateSync(show("Flate")), {}, "/Filter /FlateDecode")), "Flate"],
  [
    "ASCIIHex over Flate",
    writePdf(
      createPage(
        `${deflateSync(show("Twice")).toString("hex")}>`,
        {},
        "/Filter [/ASCIIHexDecode /FlateDecode] /DecodeParms [null << /Predictor 1 >>]",
      ),
    ),
    "Twice",
  ],
  ["escapes", writePdf(createPage(show("a\\(b\\)\\\\ \\101\\102 (nested) \\\nend"))), "a(b)\\ AB (nested) end"],
  ["Windows' characters", writePdf(createPage(show("caf\xe9 \x80 \x93q\x94"))), "café € “q”"],
  [
    "names of glyphs",
    writePdf(
      createPage("BT /F1 9 Tf 10 10 Td <0102030405> Tj ET", {
        5: "<< /Type /Font /Subtype /Type1 /BaseFont /X /Encoding << /Differences [1 /fi /uni20AC /Zcaron /a.alt /f_f] >> >>",
      }),
    ),
    "fi€Žaff",
  ],
  [
    "a composite font with a map to Unicode",
    writePdf(
      createPage("BT /F1 9 Tf 10 10 Td <00010002000300100011> Tj ET", {
        5: "<< /Type /Font /Subtype /Type0 /BaseFont /X /Encoding /Identity-H /DescendantFonts [6 0 R] /ToUnicode 7 0 R >>",
        6: "<< /Type /Font /Subtype /CIDFontType2 /DW 1000 /W [1 [500 600] 3 9 700] >>",
        7: {
          dict: "",
          data: "1 begincodespacerange <0000> <FFFF> endcodespacerange 2 beginbfchar <0001> <65E5> <0002> <D83DDE00> endbfchar 2 beginbfrange <0003> <0004> <0041> <0010> <0011> [<0062> <00660066>] endbfrange",
        },
      }),
    ),
    "日😀Abff",
  ],
  [
    "a form with resources of its own, and text that replaces its glyphs",
    writePdf(
      createPage(
        "/Fm Do /Span << /ActualText <FEFF00660069> >> BDC BT /F1 9 Tf 10 50 Td (x) Tj (y) Tj EMC (nd) Tj ET",
        {
          2: "<< /Type /Pages /Kids [3 0 R] /Resources << /Font << /F1 5 0 R >> /XObject << /Fm 6 0 R >> >> >>",
          6: {
            dict: "/Subtype /Form /Resources << /Font << /F1 5 0 R >> >>",
            data: "BT /F1 9 Tf 10 90 Td (form) Tj ET",
          },
        },
      ),
    ),
    "form\n\nfind",
  ],
  [
    "an image in the page",
    writePdf(createPage(`BI /W 2 /H 1 /BPC 8 /CS /G ID \x01EI\x02 EI ${show("after it")}`)),
    "after it",
  ],
  ["turned text", writePdf(createPage("BT /F1 9 Tf 0 1 -1 0 50 50 Tm (upwards) Tj ET")), "upwards"],
])("%s", async (_name, bytes, text) => {
  expect(await readText(bytes)).toBe(text);
});

test("pages are in their order, and changes at the end of the file replace what was there", async () => {
  const two = {
    ...createPage(show("one")),
    2: "<< /Type /Pages /Kids [6 0 R 3 0 R] /Resources << /Font << /F1 5 0 R >> >> >>",
    6: "<< /Type /Pages /Kids [7 0 R] >>",
    7: "<< /Type /Page /Contents [8 0 R] >>",
    8: { dict: "", data: show("zero") },
  };
  const bytes = writePdf(two);
  expect(await readText(bytes)).toBe("zero\fone");
  const start = Number(/startxref\n(\d+)/.exec(bytes.toString("latin1"))![1]);
  const object = `8 0 obj\n<< /Length ${show("newer").length} >>\nstream\n${show("newer")}\nendstream\nendobj\n`;
  const table = `xref\n8 1\n${String(bytes.length).padStart(10, "0")} 00000 n \ntrailer\n<< /Root 1 0 R /Prev ${start} >>\n`;
  const update = `${object}${table}startxref\n${bytes.length + object.length}\n%%EOF`;
  expect(await readText(Buffer.concat([bytes, Buffer.from(update)]))).toBe("newer\fone");
});

const readEncrypted = (name: string): Buffer => readFileSync(join(import.meta.dirname, "encrypted", `${name}.pdf`));

/** Files that qpdf has encrypted, with an empty password of the user and one of the owner. */
test.each(["rc4-40", "rc4-128", "rc4-v4", "aes-128", "aes-256-r5", "aes-256"])("encrypted with %s", async (name) => {
  const bytes = readEncrypted(name);
  expect(await readText(bytes)).toBe("Replaced text\n\nAn encrypted page");
  const withoutTable = bytes.toString("latin1").replace(/startxref\n\d+/, "startxref\n7");
  expect(await readText(Buffer.from(withoutTable, "latin1"))).toBe("Replaced text\n\nAn encrypted page");
});

test("a file that is encrypted with a password of the user says so", async () => {
  expect(await read(readEncrypted("password"))).toEqual({
    kind: "encrypted",
    message: "The PDF is encrypted, and its text cannot be read. It can only be opened with a password.",
  });
});

test("an encrypted file that is damaged is text, or a failure", async () => {
  const files = ["rc4-v4", "aes-128", "aes-256"].map(readEncrypted);
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...files), fc.nat(), fc.nat({ max: 255 }), async (file, position, byte) => {
      const bytes = Buffer.from(file);
      bytes[position % bytes.length] = byte;
      expect(["text", "encrypted", "damaged", "no_text"]).toContain((await read(bytes)).kind);
    }),
    { numRuns: 300 },
  );
});

test.each<[name: string, bytes: Uint8Array, said: string]>([
  [
    "encrypted",
    writePdf(createPage(show("x")), "/Root 1 0 R /Encrypt << /Filter /Standard >>"),
    "encrypted: The PDF is encrypted, and its text cannot be read. The way in which",
  ],
  [
    "scanned",
    writePdf(
      createPage("q 100 0 0 100 0 0 cm /Im Do Q", {
        2: "<< /Type /Pages /Kids [3 0 R] /Resources << /XObject << /Im 6 0 R >> >> >>",
        6: { dict: "/Subtype /Image /Filter /DCTDecode", data: "\xff\xd8" },
      }),
    ),
    "no_text: The PDF has only images",
  ],
  ["without text", writePdf(createPage("0 0 m 10 10 l S")), "no_text: The PDF has no text."],
  [
    "with a font that says nothing",
    writePdf(
      createPage("BT /F1 9 Tf <00010002> Tj ET", {
        5: "<< /Subtype /Type0 /Encoding /Identity-H /DescendantFonts [<< >>] >>",
      }),
    ),
    "no_text: The fonts of the PDF",
  ],
  ["empty", Buffer.from("%PDF-1.7\n"), "damaged: The PDF is damaged"],
  ["nothing", new Uint8Array(), "damaged: The PDF is damaged"],
])("a file that is %s is reported", async (_name, bytes, said) => {
  expect(await readText(bytes)).toContain(said);
});

test("a table that is wrong or missing does not matter", async () => {
  for (const bytes of [writePdf(createPage(show("found"))), writeCompressedPdf(createPage(show("found")))]) {
    const text = bytes.toString("latin1");
    expect(await readText(Buffer.from(text.replace(/startxref\n\d+/, "startxref\n7"), "latin1"))).toBe("found");
    expect(await readText(Buffer.from(text.slice(0, text.lastIndexOf("startxref")), "latin1"))).toBe("found");
    expect(await readText(Buffer.from(`junk ${text}`, "latin1"))).toBe("found");
    expect(await readText(Buffer.from(text.replaceAll(/\/Length \d+/g, "/Length 99999"), "latin1"))).toBe("found");
  }
});

const nested = `${"[".repeat(100_000)}${show("deep")}`;
const selfForm: PdfObjects = createPage("/Fm Do", {
  2: "<< /Type /Pages /Kids [3 0 R 2 0 R] /Resources 9 0 R >>",
  6: { dict: "/Subtype /Form /Resources 9 0 R", data: "/Fm Do /Fm Do" },
  9: "<< /XObject << /Fm 6 0 R >> /Font << /F1 5 0 R >> >>",
});

test.each<[name: string, create: () => Uint8Array, kind: RegExp]>([
  ["bomb", () => writePdf(createPage(deflateSync(Buffer.alloc(70_000_000)), {}, "/Filter /FlateDecode")), /^too_large/],
  ["nesting", () => writePdf(createPage(nested)), /^damaged/],
  ["form that draws itself and a tree that contains itself", () => writePdf(selfForm), /^no_text/],
  ["reference to itself", () => writePdf(createPage(show("x"), { 2: "2 0 R" })), /^damaged/],
  [
    "length that needs its own stream",
    () => writePdf({ ...createPage(show("x")), 4: `<< /Length 4 0 R >>\nstream\n${show("x")}\nendstream` }),
    /^x$/,
  ],
  [
    "streams without an end",
    () => Buffer.from(Array.from({ length: 20_000 }, (_unused, n) => `${n} 0 obj <</A 1>> stream `).join("")),
    /^damaged/,
  ],
  [
    "tables in a circle",
    () => Buffer.from("%PDF-1.4\nxref\n0 1\n0000000000 65535 f \ntrailer\n<< /Prev 9 >>\nstartxref\n9\n%%EOF"),
    /^damaged/,
  ],
  [
    "table of a billion objects",
    () => Buffer.from("%PDF-1.4\nxref\n0 1000000000\ntrailer\n<< >>\nstartxref\n9\n%%EOF"),
    /^damaged/,
  ],
])("a %s ends", async (_name, create, kind) => {
  expect(await readText(create())).toMatch(kind);
});

test("limits end the reading with what was read so far", async () => {
  const pages = Array.from({ length: 30 }, (_unused, index) => index + 10);
  const many: PdfObjects = {
    ...createPage(show("x")),
    2: `<< /Type /Pages /Kids [${pages.map((page) => `${page} 0 R`).join(" ")}] /Resources << /Font << /F1 5 0 R >> >> >>`,
    ...Object.fromEntries(pages.map((page) => [page, `<< /Type /Page /Contents 4 0 R >>`])),
  };
  expect(await read(writePdf(many), { maxPages: 3 })).toEqual({
    kind: "text",
    pages: ["x", "x", "x"],
    totalPages: 30,
    notes: [],
  });
  expect(await read(writePdf(many), { maxChars: 5 })).toMatchObject({ pages: ["x", "x", "x", "x", "x"] });
  expect(await read(writePdf(many), { maxValues: 600 })).toMatchObject({
    kind: "text",
    notes: [/could not be read/] as never,
  });
});

test("any damage gives a text or a failure", async () => {
  const originals = [
    writePdf(createPage(lines)),
    writeCompressedPdf(createPage(deflateSync(lines), {}, "/Filter /FlateDecode")),
  ];
  const change = fc.record({
    original: fc.constantFrom(...originals),
    cut: fc.nat(2_000),
    bytes: fc.array(fc.tuple(fc.nat(3_000), fc.nat(255)), { maxLength: 20 }),
  });
  await fc.assert(
    fc.asyncProperty(change, async ({ original, cut, bytes }) => {
      const damaged = Buffer.from(original.subarray(0, Math.max(20, original.length - (cut % 3 === 0 ? cut : 0))));
      for (const [position, value] of bytes) damaged[position % damaged.length] = value;
      expect(["text", "damaged", "no_text", "encrypted", "too_large"]).toContain((await read(damaged)).kind);
    }),
    { numRuns: 200 },
  );
});

test("LZW with codes that grow, and ASCII85 with zeros and a short end", async () => {
  // The example of the specification: 45 45 45 45 45 65 45 45 45 66.
  const example = Buffer.from("800B6050220C0C8501", "hex");
  expect([...decodeLzw(example, true, 1_000)]).toEqual([45, 45, 45, 45, 45, 65, 45, 45, 45, 66]);
  expect(Buffer.from(decodeAscii85(Buffer.from("87cURDZ~>"), 100)).toString()).toBe("Hello");
  expect([...decodeAscii85(Buffer.from("z!!~>"), 100)]).toEqual([0, 0, 0, 0, 0]);
});

test.each([
  ["A", "A"],
  ["eacute", "é"],
  ["Scaron", "Š"],
  ["germandbls", "ß"],
  ["space", " "],
  ["uni00410042", "AB"],
  ["u1F600", "😀"],
  ["uniD800", undefined],
  ["g123", undefined],
  [".notdef", undefined],
])("the glyph %s is %j", async (name, text) => {
  expect(getGlyphText(name)).toBe(text);
});
