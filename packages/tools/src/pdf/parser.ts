/** Reads the values of a PDF from bytes. Total: what cannot be read is skipped, and every byte is read once. */
import { type PdfBudget, PdfFailure, PdfName, PdfRef, PdfStream, PdfString, type PdfValue, PdfWord } from "./values.ts";

const maxDepth = 100;
const maxItems = 500_000;

const isSpace = (byte: number): boolean =>
  byte === 32 || byte === 10 || byte === 13 || byte === 9 || byte === 12 || byte === 0;
const delimiters = new Set(Buffer.from("()<>[]{}/%"));
const isRegular = (byte: number | undefined): boolean => byte !== undefined && !isSpace(byte) && !delimiters.has(byte);
const isNumber = /^[+-]*(?:\d+\.?\d*|\.\d+)(?:-\d*)?$/;
const escapes: Readonly<Record<string, number>> = { n: 10, r: 13, t: 9, b: 8, f: 12 };

interface StreamPorts {
  /** Resolves a length that is a reference. */
  getLength(length: PdfValue): number | undefined;
  /** Returns the position of the next `endstream`, or the end of the file. */
  findEnd(start: number): number;
}

/** Marks the end of the bytes. */
export const endOfBytes = new PdfWord("");

export class PdfParser {
  readonly #bytes: Buffer;
  readonly #budget: PdfBudget;
  position: number;

  constructor(bytes: Uint8Array, budget: PdfBudget, position = 0) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#budget = budget;
    this.position = position;
  }

  get isAtEnd(): boolean {
    return this.position >= this.#bytes.length;
  }

  /** Reads the next value or word. Two numbers and `R` are a reference. */
  read(depth = 0): PdfValue {
    if (--this.#budget.values < 0) throw new PdfFailure("too_large", "It has too many parts.");
    if (depth > maxDepth) throw new PdfFailure("damaged", "Its parts are nested too deeply.");
    this.#skipSpace();
    const bytes = this.#bytes;
    const byte = bytes[this.position];
    switch (byte) {
      case undefined:
        return endOfBytes;
      case 0x2f:
        return this.#readName();
      case 0x28:
        return this.#readText();
      case 0x5b:
        this.position++;
        return this.#readUntil("]", depth);
      case 0x3c:
        if (bytes[this.position + 1] !== 0x3c) return this.#readHex();
        this.position += 2;
        return toDict(this.#readUntil(">>", depth));
      case 0x3e:
        this.position += bytes[this.position + 1] === 0x3e ? 2 : 1;
        return new PdfWord(">>");
      case 0x5d:
      case 0x7b:
      case 0x7d:
      case 0x29:
        this.position++;
        return new PdfWord(String.fromCharCode(byte));
      default:
        return this.#readWord();
    }
  }

  /** Reads an object after `1 0 obj`, with its stream. */
  readObject({ getLength, findEnd }: StreamPorts): PdfValue {
    const value = this.read();
    if (!(value instanceof Map)) return value;
    const after = this.position;
    const word = this.read();
    if (!(word instanceof PdfWord) || word.word !== "stream") {
      this.position = after;
      return value;
    }
    let start = this.position;
    if (this.#bytes[start] === 13) start++;
    if (this.#bytes[start] === 10) start++;
    const length = getLength(value.get("Length") ?? null);
    const end = this.#hasStreamEnd(start, length) ? start + length! : findEnd(start);
    this.position = end;
    return new PdfStream(value, this.#bytes.subarray(start, end));
  }

  /** Skips the data of an image in a page, up to `EI` as a word of its own. */
  skipInlineImage(): void {
    for (let from = this.position; ;) {
      const found = this.#bytes.indexOf("EI", from);
      if (found === -1) {
        this.position = this.#bytes.length;
        return;
      }
      const [before, after] = [this.#bytes[found - 1], this.#bytes[found + 2]];
      from = found + 2;
      if (before !== undefined && isSpace(before) && !isRegular(after)) {
        this.position = from;
        return;
      }
    }
  }

  /** A length that is wrong is common; then the stream ends where its word is. */
  #hasStreamEnd(start: number, length: number | undefined): boolean {
    if (length === undefined || length < 0 || start + length > this.#bytes.length) return false;
    return /^\s*endstream/.test(this.#bytes.toString("latin1", start + length, start + length + 20));
  }

  #skipSpace(): void {
    const bytes = this.#bytes;
    for (;;) {
      const byte = bytes[this.position];
      if (byte === 0x25) {
        while (this.position < bytes.length && bytes[this.position] !== 10 && bytes[this.position] !== 13)
          this.position++;
      } else if (byte === undefined || !isSpace(byte)) return;
      else this.position++;
    }
  }

  #readRegular(): string {
    const start = this.position;
    while (isRegular(this.#bytes[this.position])) this.position++;
    return this.#bytes.toString("latin1", start, this.position);
  }

  #readName(): PdfName {
    this.position++;
    const name = this.#readRegular();
    return new PdfName(
      name.replaceAll(/#([0-9A-Fa-f]{2})/g, (_all, hex: string) => String.fromCharCode(parseInt(hex, 16))),
    );
  }

  #readWord(): PdfValue {
    const text = this.#readRegular();
    if (text === "") {
      this.position++;
      return new PdfWord("?");
    }
    if (isNumber.test(text)) {
      const number = Number.parseFloat(text.replace(/^[+-]*(?=[+-])/, ""));
      return Number.isInteger(number) && number >= 0 ? this.#readReference(number) : number;
    }
    if (text === "true" || text === "false") return text === "true";
    return text === "null" ? null : new PdfWord(text);
  }

  #readReference(number: number): number | PdfRef {
    const rest = /^[\0\t\n\f\r ]+\d{1,5}[\0\t\n\f\r ]+R(?![^\0\t\n\f\r ()<>[\]{}/%])/.exec(
      this.#bytes.toString("latin1", this.position, this.position + 24),
    );
    if (!rest) return number;
    this.position += rest[0].length;
    return new PdfRef(number);
  }

  #readText(): PdfString {
    const out: number[] = [];
    const bytes = this.#bytes;
    let open = 1;
    this.position++;
    while (this.position < bytes.length) {
      const byte = bytes[this.position++]!;
      if (byte === 0x5c) this.#readEscape(out);
      else if (byte === 0x28) {
        open++;
        out.push(byte);
      } else if (byte === 0x29) {
        if (--open === 0) break;
        out.push(byte);
      } else out.push(byte);
    }
    return new PdfString(Uint8Array.from(out));
  }

  #readEscape(out: number[]): void {
    const byte = this.#bytes[this.position++];
    if (byte === undefined) return;
    const digits = /^[0-7]{1,3}/.exec(this.#bytes.toString("latin1", this.position - 1, this.position + 2))?.[0];
    if (digits !== undefined) {
      this.position += digits.length - 1;
      out.push(parseInt(digits, 8) & 255);
    } else if (byte === 13) {
      if (this.#bytes[this.position] === 10) this.position++;
    } else if (byte !== 10) out.push(escapes[String.fromCharCode(byte)] ?? byte);
  }

  #readHex(): PdfString {
    const end = this.#bytes.indexOf(">", this.position);
    const stop = end === -1 ? this.#bytes.length : end;
    const digits = this.#bytes.toString("latin1", this.position + 1, stop).replaceAll(/[^0-9A-Fa-f]/g, "");
    this.position = stop + 1;
    return new PdfString(Buffer.from(digits.length % 2 === 0 ? digits : `${digits}0`, "hex"));
  }

  /** A list that does not end, ends with the object. */
  #readUntil(close: string, depth: number): PdfValue[] {
    const values: PdfValue[] = [];
    for (;;) {
      const start = this.position;
      const value = this.read(depth + 1);
      if (value === endOfBytes) return values;
      if (value instanceof PdfWord) {
        if (value.word === close) return values;
        if (value.word === "endobj" || value.word === "stream" || value.word === "obj") {
          this.position = start;
          return values;
        }
      }
      if (values.length >= maxItems) throw new PdfFailure("too_large", "It has too many parts.");
      values.push(value);
    }
  }
}

function toDict(values: readonly PdfValue[]): Map<string, PdfValue> {
  const dict = new Map<string, PdfValue>();
  for (let index = 0; index + 1 < values.length;) {
    const key = values[index];
    if (key instanceof PdfName) dict.set(key.name, values[index + 1]!);
    index += key instanceof PdfName ? 2 : 1;
  }
  return dict;
}
