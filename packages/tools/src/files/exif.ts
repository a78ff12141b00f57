/**
 * Reads what a camera wrote beside the pixels, within limits: two tables are read, no pointer is followed but the one to the second,
 * and where the picture was taken is not read at all. Pure.
 */
import { jpegSegments, readStructure } from "./image-size.ts";

export interface Exif {
  /** Names and values, in the order of the file. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  /** Whether the file says where the picture was taken. That is not read. */
  readonly hasLocation: boolean;
}

const names: Readonly<Record<number, string>> = {
  0x010e: "description",
  0x010f: "make",
  0x0110: "model",
  0x0112: "orientation",
  0x011a: "x resolution",
  0x011b: "y resolution",
  0x0131: "software",
  0x0132: "changed",
  0x013b: "artist",
  0x8298: "copyright",
  0x829a: "exposure time",
  0x829d: "f-number",
  0x8827: "iso",
  0x9003: "taken",
  0x9010: "time zone",
  0x9209: "flash",
  0x920a: "focal length",
  0xa001: "colour space",
  0xa434: "lens",
};

const exifTable = 0x8769;
const locationTable = 0x8825;
const littleEndian = 0x4949;
const bigEndian = 0x4d4d;
const tiffMark = 42;
const maxEntries = 200;
const maxTextLength = 200;

/** Bytes of a value, by the number of its type: text, short, long, fraction, signed fraction. */
const sizes: Readonly<Record<number, number>> = { 2: 1, 3: 2, 4: 4, 5: 8, 10: 8 };

/** Reads a block that begins with the mark of its byte order, as a TIFF file does. Undefined if it is damaged before its end. */
export function readExif(block: Uint8Array): Exif | undefined {
  const view = new DataView(block.buffer, block.byteOffset, block.byteLength);
  const fields: [string, string][] = [];
  let hasLocation = false;
  const result = readStructure(block, () => {
    const isLittle = readByteOrder(view);
    const table = view.getUint32(4, isLittle);
    let second: number | undefined;
    for (const entry of listEntries(view, table, isLittle)) {
      if (entry.tag === exifTable) second = view.getUint32(entry.index + 8, isLittle);
      if (entry.tag === locationTable) hasLocation = true;
      addField(fields, view, entry, isLittle);
    }
    if (second === undefined || second === table) return true;
    for (const entry of listEntries(view, second, isLittle)) {
      if (entry.tag === locationTable) hasLocation = true;
      addField(fields, view, entry, isLittle);
    }
    return true;
  });
  return result === undefined && fields.length === 0 && !hasLocation ? undefined : { fields, hasLocation };
}

/** Throws a RangeError for what is not such a block. */
function readByteOrder(view: DataView): boolean {
  const order = view.getUint16(0);
  const isLittle = order === littleEndian;
  if ((!isLittle && order !== bigEndian) || view.getUint16(2, isLittle) !== tiffMark) throw new RangeError("no order");
  return isLittle;
}

interface Entry {
  readonly tag: number;
  /** Where it begins. */
  readonly index: number;
}

function* listEntries(view: DataView, table: number, isLittle: boolean): Generator<Entry> {
  const count = Math.min(maxEntries, view.getUint16(table, isLittle));
  for (let entry = 0; entry < count; entry++) {
    const index = table + 2 + entry * 12;
    yield { tag: view.getUint16(index, isLittle), index };
  }
}

function addField(fields: [string, string][], view: DataView, { tag, index }: Entry, isLittle: boolean): void {
  const name = names[tag];
  const value = name === undefined ? undefined : readStructure(toBytes(view), () => readValue(view, index, isLittle));
  if (name !== undefined && value !== undefined && value !== "") fields.push([name, value]);
}

const toBytes = ({ buffer, byteOffset, byteLength }: DataView): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);

/** Undefined for a type that is not read. Throws a RangeError for a value outside of the block. */
function readValue(view: DataView, index: number, isLittle: boolean): string | undefined {
  const type = view.getUint16(index + 2, isLittle);
  const count = view.getUint32(index + 4, isLittle);
  const size = sizes[type];
  if (size === undefined || count === 0) return undefined;
  // A value that fits is in the entry itself.
  const start = size * count <= 4 ? index + 8 : view.getUint32(index + 8, isLittle);
  switch (type) {
    case 2:
      return readText(view, start, Math.min(count, maxTextLength));
    case 3:
      return String(view.getUint16(start, isLittle));
    case 4:
      return String(view.getUint32(start, isLittle));
    case 5:
      return formatFraction(view.getUint32(start, isLittle), view.getUint32(start + 4, isLittle));
    default:
      return formatFraction(view.getInt32(start, isLittle), view.getInt32(start + 4, isLittle));
  }
}

function readText(view: DataView, start: number, length: number): string {
  if (start + length > view.byteLength) throw new RangeError("outside");
  const text = Buffer.from(view.buffer, view.byteOffset + start, length).toString("utf8");
  return text.split("\0", 1)[0]!.trim();
}

/** Exposure times are written as people do: 1/250. */
function formatFraction(numerator: number, denominator: number): string | undefined {
  if (denominator === 0) return undefined;
  if (numerator === 1 && denominator > 1) return `1/${denominator}`;
  return String(Math.round((numerator / denominator) * 10_000) / 10_000);
}

const exifMarker = 0xe1;
const exifName = 0x45786966; // "Exif", also the name of a chunk of WebP in capitals
const pngChunk = 0x65584966; // "eXIf"
const webpChunk = 0x45584946; // "EXIF"
const maxChunks = 10_000;

/** Finds the block in an image. Undefined if there is none. */
export function findExif(bytes: Uint8Array, type: string): Uint8Array | undefined {
  switch (type) {
    case "image/tiff":
      return bytes;
    case "image/jpeg":
      return readStructure(bytes, (view) => {
        for (const { marker, index } of jpegSegments(view))
          if (marker === exifMarker && view.getUint32(index + 4) === exifName)
            return bytes.subarray(index + 10, index + 2 + view.getUint16(index + 2));
        return undefined;
      });
    case "image/png":
      return findChunk(bytes, { first: 8, name: pngChunk, isLittle: false, nameFirst: false, extra: 12 });
    case "image/webp":
      return findChunk(bytes, { first: 12, name: webpChunk, isLittle: true, nameFirst: true, extra: 8 });
    default:
      return undefined;
  }
}

interface ChunkForm {
  readonly first: number;
  readonly name: number;
  readonly isLittle: boolean;
  /** Whether the name stands before the length. */
  readonly nameFirst: boolean;
  /** Bytes of a chunk besides its data. */
  readonly extra: number;
}

function findChunk(bytes: Uint8Array, form: ChunkForm): Uint8Array | undefined {
  return readStructure(bytes, (view) => {
    let index = form.first;
    for (let chunk = 0; chunk < maxChunks; chunk++) {
      const name = view.getUint32(form.nameFirst ? index : index + 4);
      const length = view.getUint32(form.nameFirst ? index + 4 : index, form.isLittle);
      if (name === form.name) return bytes.subarray(index + 8, index + 8 + length);
      // Data of WebP has an even length.
      index += form.extra + length + (form.nameFirst ? length % 2 : 0);
    }
    return undefined;
  });
}
