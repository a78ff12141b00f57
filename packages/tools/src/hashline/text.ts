/** A text file as lines, such that what nobody touched is written back byte for byte. Pure. */
import { isAscii, isUtf8 } from "node:buffer";
import { ToolsError } from "../errors.ts";
import { refuseBinary } from "../files/sniff.ts";

/** Lines are counted from 0. What is costly for a long text is worked out when it is asked for. */
export class TextFile {
  readonly hasMark: boolean;
  /** Without the byte order mark, with the line ends that it has. */
  readonly raw: string;
  /** What tags and snapshots are made of: the lines, each ending in `\n`. */
  readonly text: string;
  #starts: Int32Array | undefined;
  #lines: string[] | undefined;

  /** `starts`: where the lines begin, if that is known already. */
  constructor(raw: string, hasMark: boolean, starts?: Int32Array) {
    this.raw = raw;
    this.hasMark = hasMark;
    this.#starts = starts;
    this.text = raw.includes("\r") ? raw.replaceAll("\r\n", "\n").replace(/\r$/, "") : raw;
  }

  get count(): number {
    return this.starts.length;
  }

  get lines(): readonly string[] {
    this.#lines ??= linesOf(this.text);
    return this.#lines;
  }

  /** Without its line end. */
  line(at: number): string {
    const line = this.raw.slice(this.startOf(at), this.startOf(at + 1));
    return line.replace(/\r?\n$|\r$/, "");
  }

  /** Where a line begins in `raw`; the line after the last begins at its end. */
  startOf(at: number): number {
    return this.starts[at] ?? this.raw.length;
  }

  /** The line end of a line. A last line without one is taken to be like the line before it. */
  endingOf(at: number): string {
    const end = this.startOf(at + 1);
    if (this.raw[end - 1] !== "\n") return at > 0 ? this.endingOf(at - 1) : "\n";
    return this.raw[end - 2] === "\r" ? "\r\n" : "\n";
  }

  /** Where the lines begin in `raw`. */
  get starts(): Int32Array {
    if (this.#starts) return this.#starts;
    const starts: number[] = [];
    for (let at = 0; at < this.raw.length;) {
      starts.push(at);
      const end = this.raw.indexOf("\n", at);
      at = end < 0 ? this.raw.length : end + 1;
    }
    this.#starts = Int32Array.from(starts);
    return this.#starts;
  }
}

/** `path` is for what is refused: UTF-16, and bytes that are no text and so could not be written back as they were. */
export function decodeText(bytes: Uint8Array, path: string): TextFile {
  refuseBinary(bytes, path);
  if (!isUtf8(bytes)) {
    throw new ToolsError("binary", `${path} is not valid UTF-8. Convert it first, or change it with a program.`);
  }
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString(
    // The same characters, read several times faster.
    isAscii(bytes) ? "latin1" : "utf8",
  );
  const hasMark = whole.startsWith("\ufeff");
  return new TextFile(hasMark ? whole.slice(1) : whole, hasMark);
}

export const encodeText = ({ hasMark, raw }: TextFile): Buffer => Buffer.from(hasMark ? `\ufeff${raw}` : raw, "utf8");

/** The lines of a text with `\n` line ends. */
export function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}
