/** A text file as lines. Lines that are not changed are written back byte for byte. Pure. */
import { isAscii, isUtf8 } from "node:buffer";
import { ToolsError } from "../errors.ts";
import { refuseBinary } from "../files/sniff.ts";
import { xxHash32 } from "./xxhash32.ts";

const [feed, carriage] = [0x0a, 0x0d];
const mark = Buffer.from("\ufeff");

/** Lines are counted from 0. Only the parts that are needed become strings. */
export class TextFile {
  /** The bytes as in the file. Must not be changed. */
  readonly bytes: Buffer;
  #starts: Int32Array | undefined;
  #text: Buffer | undefined;
  #hash: number | undefined;

  /** `bytes` must be UTF-8. `starts`: where the lines begin in them, if that is known already. */
  constructor(bytes: Buffer, starts?: Int32Array) {
    this.bytes = bytes;
    this.#starts = starts;
  }

  /** The text that tags and snapshots use: without a byte order mark, and each line ending in `\n`. */
  get text(): Buffer {
    this.#text ??= withoutReturns(this.bytes.subarray(this.contentStart));
    return this.#text;
  }

  /** The hash of `text`. */
  get hash(): number {
    this.#hash ??= xxHash32(this.text);
    return this.#hash;
  }

  /** After the byte order mark, if there is one. */
  get contentStart(): number {
    return this.bytes.subarray(0, mark.length).equals(mark) ? mark.length : 0;
  }

  get count(): number {
    return this.starts.length;
  }

  get lines(): string[] {
    return toLines(this.text);
  }

  /** Without its line end. */
  line(index: number): string {
    return this.slice(index, index + 1).replace(/\r?\n$|\r$/, "");
  }

  /** Lines with their ends, up to the line `to`, which is not included. */
  slice(from: number, to: number): string {
    return this.bytes.toString("utf8", this.getStart(from), this.getStart(to));
  }

  /** Where a line begins in `bytes`; the line after the last begins at their end. */
  getStart(index: number): number {
    return this.starts[index] ?? this.bytes.length;
  }

  /** Whether the last line has no line end. */
  get isOpen(): boolean {
    return this.count > 0 && this.bytes.at(-1) !== feed;
  }

  /** The line end of a line. A last line without one is taken to be like the line before it. */
  getEnding(index: number): string {
    const end = this.getStart(index + 1);
    if (this.bytes[end - 1] !== feed) return index > 0 ? this.getEnding(index - 1) : "\n";
    return this.bytes[end - 2] === carriage ? "\r\n" : "\n";
  }

  /** Where the lines begin in `bytes`. */
  get starts(): Int32Array {
    this.#starts ??= getStarts(this.bytes, this.contentStart);
    return this.#starts;
  }
}

function getStarts(bytes: Buffer, from: number): Int32Array {
  const starts: number[] = from < bytes.length ? [from] : [];
  for (let index = from; index < bytes.length - 1; index++) if (bytes[index] === feed) starts.push(index + 1);
  return new Int32Array(starts);
}

function withoutReturns(bytes: Buffer): Buffer {
  if (!bytes.includes(carriage)) return bytes;
  // As Latin-1, so that all other bytes stay as they are.
  const text = bytes.toString("latin1").replaceAll("\r\n", "\n");
  return Buffer.from(text.endsWith("\r") ? text.slice(0, -1) : text, "latin1");
}

/** Refuses UTF-16, and bytes that are not text; `path` names the file in the message. */
export function parseTextFile(bytes: Uint8Array, path: string): TextFile {
  refuseBinary(bytes, path);
  if (!isUtf8(bytes)) {
    throw new ToolsError("binary", `${path} is not valid UTF-8. Convert it first, or change it with a program.`);
  }
  return new TextFile(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
}

/** The lines of a text with `\n` line ends. */
export function toLines(text: Buffer): string[] {
  // For ASCII the result is the same, and several times faster.
  const lines = text.toString(isAscii(text) ? "latin1" : "utf8").split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}
