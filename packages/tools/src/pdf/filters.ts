/** Decodes streams: Flate and LZW with predictors, ASCII85, ASCIIHex and RunLength. Damaged data gives what could be read. */
import { constants, inflateRawSync, inflateSync } from "node:zlib";
import { type PdfBudget, type PdfDict, PdfFailure } from "./values.ts";

/** The filters of images, which have no text. */
const imageFilters = new Set(["DCTDecode", "DCT", "JPXDecode", "JBIG2Decode", "CCITTFaxDecode", "CCF"]);
const maxStreamBytes = 32 * 1024 * 1024;

export interface FilterStep {
  readonly name: string;
  readonly parameters: PdfDict;
}

/** Bytes that are added one after the other. */
class ByteList {
  #bytes = new Uint8Array(1_024);
  #size = 0;
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  push(byte: number): void {
    if (this.#size >= this.#max) throw new PdfFailure("too_large", "Unpacked it is too large.");
    if (this.#size === this.#bytes.length) {
      const larger = new Uint8Array(this.#bytes.length * 2);
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    this.#bytes[this.#size++] = byte;
  }

  toBytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#size);
  }
}

/** Undefined for an image, or a filter that is not known. Throws a `PdfFailure` if it becomes too large. */
export function decodeStream(raw: Uint8Array, steps: readonly FilterStep[], budget: PdfBudget): Uint8Array | undefined {
  let bytes = raw;
  spend(budget, raw.length);
  for (const { name, parameters } of steps.slice(0, 8)) {
    if (imageFilters.has(name)) return undefined;
    const decoded = decodeOne(name, bytes, parameters, budget);
    if (!decoded) return undefined;
    spend(budget, decoded.length);
    bytes = decoded;
  }
  return bytes;
}

function spend(budget: PdfBudget, bytes: number): void {
  budget.bytes -= bytes;
  if (budget.bytes < 0) throw new PdfFailure("too_large", "Unpacked it is too large.");
}

function decodeOne(name: string, bytes: Uint8Array, parameters: PdfDict, budget: PdfBudget): Uint8Array | undefined {
  const max = Math.min(maxStreamBytes, Math.max(1, budget.bytes));
  switch (name) {
    case "FlateDecode":
    case "Fl":
      return undoPredictor(inflate(bytes, max), parameters);
    case "LZWDecode":
    case "LZW":
      return undoPredictor(decodeLzw(bytes, parameters.get("EarlyChange") !== 0, max), parameters);
    case "ASCII85Decode":
    case "A85":
      return decodeAscii85(bytes, max);
    case "ASCIIHexDecode":
    case "AHx":
      return decodeAsciiHex(bytes);
    case "RunLengthDecode":
    case "RL":
      return decodeRunLength(bytes, max);
    case "Crypt":
      return bytes;
    default:
      return undefined;
  }
}

/** A stream that ends too early gives its beginning. */
function inflate(bytes: Uint8Array, maxOutputLength: number): Uint8Array {
  const options = { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength };
  try {
    return inflateSync(bytes, options);
  } catch (error) {
    if ((error as { code?: string }).code === "ERR_BUFFER_TOO_LARGE")
      throw new PdfFailure("too_large", "Unpacked it is too large.");
    try {
      // Some writers leave the header out, or damage it.
      return inflateRawSync(bytes.subarray(2), options);
    } catch {
      return new Uint8Array();
    }
  }
}

export function decodeLzw(bytes: Uint8Array, isEarly: boolean, max: number): Uint8Array {
  const out = new ByteList(max);
  let table: number[][] = [];
  let [width, buffer, bits] = [9, 0, 0];
  let previous: number[] | undefined;
  const reset = () => {
    table = [];
    width = 9;
    previous = undefined;
  };
  for (const byte of bytes) {
    buffer = ((buffer << 8) | byte) & 0xff_ffff;
    bits += 8;
    if (bits < width) continue;
    bits -= width;
    const code = (buffer >> bits) & ((1 << width) - 1);
    if (code === 257) break;
    if (code === 256) {
      reset();
      continue;
    }
    const known = code < 256 ? [code] : table[code - 258];
    const entry = known ?? (previous && [...previous, previous[0]!]);
    if (!entry) break;
    for (const value of entry) out.push(value);
    if (previous && table.length < 4_096 - 258) table.push([...previous, entry[0]!]);
    previous = entry;
    const size = table.length + 258 + (isEarly ? 1 : 0);
    width = size >= 2_048 ? 12 : size >= 1_024 ? 11 : size >= 512 ? 10 : 9;
  }
  return out.toBytes();
}

export function decodeAscii85(bytes: Uint8Array, max: number): Uint8Array {
  const out = new ByteList(max);
  let group: number[] = [];
  const flush = (count: number) => {
    const value = group.reduce((sum, digit) => sum * 85 + digit, 0);
    for (let index = 0; index < count; index++) out.push(Math.floor(value / 256 ** (3 - index)) & 255);
    group = [];
  };
  for (const byte of bytes) {
    if (byte === 0x7e) break;
    if (byte === 0x7a && group.length === 0) {
      group = [0, 0, 0, 0, 0];
      flush(4);
    } else if (byte >= 0x21 && byte <= 0x75) {
      group.push(byte - 0x21);
      if (group.length === 5) flush(4);
    }
  }
  const left = group.length;
  if (left > 1) {
    while (group.length < 5) group.push(84);
    flush(left - 1);
  }
  return out.toBytes();
}

function decodeAsciiHex(bytes: Uint8Array): Uint8Array {
  const text = Buffer.from(bytes).toString("latin1");
  const digits = text
    .slice(0, text.indexOf(">") === -1 ? text.length : text.indexOf(">"))
    .replaceAll(/[^0-9A-Fa-f]/g, "");
  return Buffer.from(digits.length % 2 === 0 ? digits : `${digits}0`, "hex");
}

function decodeRunLength(bytes: Uint8Array, max: number): Uint8Array {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (let index = 0; index < bytes.length;) {
    const length = bytes[index]!;
    if (length === 128) break;
    const chunk =
      length < 128
        ? bytes.subarray(index + 1, index + 2 + length)
        : new Uint8Array(257 - length).fill(bytes[index + 1] ?? 0);
    index += length < 128 ? length + 2 : 2;
    size += chunk.length;
    if (size > max) throw new PdfFailure("too_large", "Unpacked it is too large.");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const getNumber = (dict: PdfDict, key: string, byDefault: number): number => {
  const value = dict.get(key);
  return typeof value === "number" ? value : byDefault;
};

/** Undoes the differences to neighbours: those of TIFF (2) and of PNG (10 to 15). */
function undoPredictor(bytes: Uint8Array, parameters: PdfDict): Uint8Array {
  const predictor = getNumber(parameters, "Predictor", 1);
  if (predictor < 2) return bytes;
  const colors = getNumber(parameters, "Colors", 1);
  const bitsPerPixel = colors * getNumber(parameters, "BitsPerComponent", 8);
  const pixel = Math.max(1, Math.ceil(bitsPerPixel / 8));
  const row = Math.ceil((getNumber(parameters, "Columns", 1) * bitsPerPixel) / 8);
  if (!(row > 0) || row > maxStreamBytes || pixel > row) return bytes;
  if (predictor === 2) {
    const out = Uint8Array.from(bytes);
    for (let index = 0; index < out.length; index++)
      if (index % row >= pixel) out[index] = (out[index]! + out[index - pixel]!) & 255;
    return out;
  }
  const rows = Math.ceil(bytes.length / (row + 1));
  const out = new Uint8Array(rows * row);
  for (let line = 0; line < rows; line++) {
    const start = line * (row + 1);
    const kind = bytes[start]!;
    for (let column = 0; column < row; column++) {
      const target = line * row + column;
      const left = column >= pixel ? out[target - pixel]! : 0;
      const above = line > 0 ? out[target - row]! : 0;
      const corner = line > 0 && column >= pixel ? out[target - row - pixel]! : 0;
      out[target] = ((bytes[start + 1 + column] ?? 0) + predict(kind, left, above, corner)) & 255;
    }
  }
  return out;
}

function predict(kind: number, left: number, above: number, corner: number): number {
  switch (kind) {
    case 1:
      return left;
    case 2:
      return above;
    case 3:
      return (left + above) >> 1;
    case 4: {
      const estimate = left + above - corner;
      const [a, b, c] = [Math.abs(estimate - left), Math.abs(estimate - above), Math.abs(estimate - corner)];
      return a <= b && a <= c ? left : b <= c ? above : corner;
    }
    default:
      return 0;
  }
}
