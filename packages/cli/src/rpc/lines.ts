/** Lines out of bytes. Only LF ends a line; a CR before it is not part of it. */
import type { Readable } from "node:stream";

/** Room for a prompt with several images, and far less than memory. */
export const maxLineBytes = 32 * 1024 * 1024;

const lineFeed = 0x0a;

export type Line =
  | { kind: "text"; text: string }
  /** It had more than `maxLineBytes`, and nothing of it was kept. */
  | { kind: "too_long" };

/** Takes bytes as they come, in whatever pieces, and gives the lines that they complete. */
export class LineSplitter {
  readonly #maxBytes: number;
  #pieces: Buffer[] = [];
  #size = 0;

  constructor(maxBytes: number = maxLineBytes) {
    this.#maxBytes = maxBytes;
  }

  push(chunk: Buffer): Line[] {
    const lines: Line[] = [];
    let from = 0;
    for (let at = chunk.indexOf(lineFeed); at >= 0; at = chunk.indexOf(lineFeed, from)) {
      this.#keep(chunk.subarray(from, at));
      lines.push(this.#take());
      from = at + 1;
    }
    this.#keep(chunk.subarray(from));
    return lines;
  }

  /** What comes after the last LF is a line too, if anything does. */
  end(): Line[] {
    return this.#size > 0 ? [this.#take()] : [];
  }

  #keep(piece: Buffer): void {
    this.#size += piece.length;
    if (this.#size > this.#maxBytes) this.#pieces = [];
    else if (piece.length > 0) this.#pieces.push(piece);
  }

  #take(): Line {
    const isTooLong = this.#size > this.#maxBytes;
    const text = Buffer.concat(this.#pieces).toString("utf8");
    this.#pieces = [];
    this.#size = 0;
    return isTooLong ? { kind: "too_long" } : { kind: "text", text: text.endsWith("\r") ? text.slice(0, -1) : text };
  }
}

/** The lines of a stream until it ends, fails, or the signal aborts: whoever wrote it is gone then, and that is all. */
export async function* readLines(input: Readable, signal: AbortSignal): AsyncGenerator<Line> {
  const splitter = new LineSplitter();
  const stop = () => void input.destroy();
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  try {
    for await (const chunk of input) yield* splitter.push(Buffer.from(chunk as Uint8Array));
  } catch (error) {
    if (!isGone(input, error)) throw error;
  } finally {
    signal.removeEventListener("abort", stop);
  }
  if (!signal.aborted) yield* splitter.end();
}

/** The stream broke, or was left: not something of ours that went wrong while a line was being worked on. */
const isGone = (input: Readable, error: unknown) =>
  input.destroyed &&
  (input.errored === error || (error as { code?: unknown } | undefined)?.code === "ERR_STREAM_PREMATURE_CLOSE");
