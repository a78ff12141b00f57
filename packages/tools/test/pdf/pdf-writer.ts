/** Writes PDFs for tests. */
import { deflateSync } from "node:zlib";

export type PdfObjects = Readonly<Record<number, string | { dict: string; data: string | Uint8Array }>>;

const toBytes = (data: string | Uint8Array): Buffer =>
  typeof data === "string" ? Buffer.from(data, "latin1") : Buffer.from(data);

function formatObject(number: number, object: PdfObjects[number]): Buffer {
  if (typeof object === "string") return toBytes(`${number} 0 obj\n${object}\nendobj\n`);
  const data = toBytes(object.data);
  return Buffer.concat([
    toBytes(`${number} 0 obj\n<< ${object.dict} /Length ${data.length} >>\nstream\n`),
    data,
    toBytes("\nendstream\nendobj\n"),
  ]);
}

function layOut(objects: PdfObjects): { body: Buffer; offsets: Map<number, number> } {
  const offsets = new Map<number, number>();
  const chunks = [toBytes("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")];
  let size = chunks[0]!.length;
  for (const [key, object] of Object.entries(objects)) {
    offsets.set(Number(key), size);
    const chunk = formatObject(Number(key), object);
    chunks.push(chunk);
    size += chunk.length;
  }
  return { body: Buffer.concat(chunks), offsets };
}

/** With a table of objects as in the first versions of the format. */
export function writePdf(objects: PdfObjects, trailer = "/Root 1 0 R"): Buffer {
  const { body, offsets } = layOut(objects);
  const size = Math.max(...offsets.keys()) + 1;
  const rows = Array.from({ length: size }, (_unused, number) => {
    const offset = offsets.get(number);
    return offset === undefined ? "0000000000 65535 f \n" : `${String(offset).padStart(10, "0")} 00000 n \n`;
  });
  const table = `xref\n0 ${size}\n${rows.join("")}trailer\n<< /Size ${size} ${trailer} >>\nstartxref\n${body.length}\n%%EOF\n`;
  return Buffer.concat([body, toBytes(table)]);
}

/** With all plain objects in a stream, and the table as a stream with a predictor. */
export function writeCompressedPdf(objects: PdfObjects): Buffer {
  const plain = Object.entries(objects).filter((entry): entry is [string, string] => typeof entry[1] === "string");
  const streams = Object.fromEntries(Object.entries(objects).filter(([, object]) => typeof object !== "string"));
  const texts = plain.map(([, object]) => object);
  let offset = 0;
  const header = plain.map(([number, object]) => {
    const row = `${number} ${offset}`;
    offset += object.length + 1;
    return row;
  });
  const first = header.join(" ").length + 1;
  const packed = `${header.join(" ")}\n${texts.join("\n")}\n`;
  const { body, offsets } = layOut({
    ...streams,
    900: { dict: `/Type /ObjStm /N ${plain.length} /First ${first} /Filter /FlateDecode`, data: deflateSync(packed) },
  });
  const rows = Array.from({ length: 902 }, (_unused, number) => {
    const index = plain.findIndex(([key]) => Number(key) === number);
    if (index !== -1) return [2, 0, 900 >> 8, 900 & 255, index];
    const position = number === 901 ? body.length : offsets.get(number);
    if (position === undefined) return [0, 0, 0, 0, 0];
    return [1, position >> 16, (position >> 8) & 255, position & 255, 0];
  });
  // Each row is the difference to the one above it.
  const predicted = rows.flatMap((row, index) => [
    2,
    ...row.map((value, column) => (value - (rows[index - 1]?.[column] ?? 0)) & 255),
  ]);
  const table = formatObject(901, {
    dict: "/Type /XRef /Size 902 /W [1 3 1] /Root 1 0 R /Filter /FlateDecode /DecodeParms << /Predictor 12 /Columns 5 >>",
    data: deflateSync(Uint8Array.from(predicted)),
  });
  return Buffer.concat([body, table, toBytes(`startxref\n${body.length}\n%%EOF\n`)]);
}

/** A document of one page. `more` adds objects or replaces them; page 3, content 4, font 5. */
export const createPage = (content: string | Uint8Array, more: PdfObjects = {}, contentDict = ""): PdfObjects => ({
  1: "<< /Type /Catalog /Pages 2 0 R >>",
  2: "<< /Type /Pages /Kids [3 0 R] /Count 1 /Resources << /Font << /F1 5 0 R >> >> >>",
  3: "<< /Type /Page /Parent 2 0 R /Contents 4 0 R >>",
  4: { dict: contentDict, data: content },
  5: "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
  ...more,
});
