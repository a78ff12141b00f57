/** Messages of JSON behind a header with their length, as language servers and debug adapters write them. */
import { toVisibleLine } from "./visible-text.ts";

/** A message of a stream, or why there is none. */
export type Frame =
  | { kind: "message"; message: unknown; bytes: number }
  /** This one is no JSON. Later ones can be read. */
  | { kind: "unreadable"; problem: string }
  /** Where messages begin is no longer known. Nothing is read after it. */
  | { kind: "broken"; problem: string };

export interface ContentLengthLimits {
  /** The size of one message. Default 16 MiB. */
  maxBytes?: number;
  /** The size of everything before a message: its header, and lines that are none. Default 64 KiB. */
  maxHeaderBytes?: number;
}

const defaultMaxBytes = 16 * 1024 * 1024;
const defaultMaxHeaderBytes = 64 * 1024;
const lineEnd = 10;

/** Finds the messages in the pieces of a stream. Each byte of a message is copied at most once, however small the pieces are. */
export class ContentLengthReader {
  readonly #maxBytes: number;
  readonly #maxHeaderBytes: number;
  /** Pieces of the message, or of the line of a header, that is not complete. */
  #pieces: Buffer[] = [];
  #pieceBytes = 0;
  #headerBytes = 0;
  /** The length that the header gave; undefined if it gave none yet. */
  #length: number | undefined;
  #state: "header" | "message" | "broken" = "header";

  constructor({ maxBytes = defaultMaxBytes, maxHeaderBytes = defaultMaxHeaderBytes }: ContentLengthLimits = {}) {
    this.#maxBytes = maxBytes;
    this.#maxHeaderBytes = maxHeaderBytes;
  }

  /** Returns the messages that the next piece of the stream completes. */
  read(chunk: Buffer): Frame[] {
    const frames: Frame[] = [];
    let start = 0;
    while (start < chunk.length && this.#state !== "broken") {
      const rest = chunk.subarray(start);
      start += this.#state === "message" ? this.#readMessage(rest, frames) : this.#readLine(rest, frames);
    }
    return frames;
  }

  /** Returns how many bytes were used, like `#readMessage`. */
  #readLine(chunk: Buffer, frames: Frame[]): number {
    const end = chunk.indexOf(lineEnd);
    const used = end < 0 ? chunk.length : end + 1;
    this.#headerBytes += used;
    if (this.#headerBytes > this.#maxHeaderBytes) {
      frames.push(this.#break(`There was no message within ${this.#maxHeaderBytes} bytes.`));
      return used;
    }
    this.#keep(chunk.subarray(0, used));
    if (end < 0) return used;
    const problem = this.#useLine(this.#take().toString("latin1").trim());
    if (problem !== undefined) frames.push(this.#break(problem));
    else if (this.#length === 0 && this.#state === "message") frames.push(this.#finish(Buffer.alloc(0)));
    return used;
  }

  /** Lines that are no header are skipped: some programs print greetings and warnings there. Returns what is wrong with it. */
  #useLine(line: string): string | undefined {
    if (line === "") {
      if (this.#length !== undefined) this.#state = "message";
      return undefined;
    }
    const [, value] = /^content-length\s*:(.*)$/i.exec(line) ?? [];
    if (value === undefined) return undefined;
    if (!/^\d{1,15}$/.test(value.trim())) return `A header has the length "${toVisibleLine(value, 40)}".`;
    const length = Number(value);
    if (length > this.#maxBytes) return `A message has ${length} bytes, more than ${this.#maxBytes}.`;
    this.#length = length;
    return undefined;
  }

  #readMessage(chunk: Buffer, frames: Frame[]): number {
    const part = chunk.subarray(0, this.#length! - this.#pieceBytes);
    this.#keep(part);
    if (this.#pieceBytes === this.#length) frames.push(this.#finish(this.#take()));
    return part.length;
  }

  #finish(body: Buffer): Frame {
    this.#state = "header";
    this.#length = undefined;
    this.#headerBytes = 0;
    try {
      return { kind: "message", message: JSON.parse(body.toString("utf8")), bytes: body.length };
    } catch (error) {
      return { kind: "unreadable", problem: `A message is no JSON: ${toVisibleLine((error as Error).message, 200)}` };
    }
  }

  #break(problem: string): Frame {
    this.#state = "broken";
    this.#take();
    return { kind: "broken", problem };
  }

  #keep(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#pieceBytes += piece.length;
  }

  #take(): Buffer {
    const bytes = this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#pieceBytes = 0;
    return bytes;
  }
}

/** Returns the bytes of a message with its header. */
export function toFrame(message: unknown): Buffer {
  const body = Buffer.from(JSON.stringify(message), "utf8");
  return Buffer.concat([Buffer.from(`Content-Length: ${body.length}\r\n\r\n`, "latin1"), body]);
}
