/**
 * Splits bytes into lines of a limited length. Only LF ends a line: `node:readline` also takes U+2028, which JSON has in its texts. A CR
 * before the LF is dropped.
 */
import { addAbortSignal, type Readable } from "node:stream";

const lineFeed = 0x0a;

export type Line =
  | { kind: "text"; text: string }
  /** The line has more than the maximum, and nothing of it was kept. */
  | { kind: "too_long" };

export class LineSplitter {
  readonly #maxBytes: number;
  #pieces: Buffer[] = [];
  #size = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Returns the lines that the chunk completes. */
  push(chunk: Buffer): Line[] {
    const lines: Line[] = [];
    let start = 0;
    for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, start)) {
      this.#keep(chunk.subarray(start, end));
      lines.push(this.#take());
      start = end + 1;
    }
    this.#keep(chunk.subarray(start));
    return lines;
  }

  /** Returns the text after the last LF, if there is any. */
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

/** The lines of a stream until it ends or breaks, or the signal is aborted. */
export async function* readLines(
  input: Readable,
  { maxBytes, signal }: { maxBytes: number; signal?: AbortSignal },
): AsyncGenerator<Line> {
  const splitter = new LineSplitter(maxBytes);
  const chunks = signal ? addAbortSignal(signal, input) : input;
  try {
    for await (const chunk of chunks) yield* splitter.push(Buffer.from(chunk as Uint8Array));
  } catch (error) {
    if (!isStreamError(input, error)) throw error;
  }
  if (!signal?.aborted) yield* splitter.end();
}

/** Whether the stream itself broke, as opposed to the code that handles a line. */
const isStreamError = (input: Readable, error: unknown) =>
  input.destroyed &&
  (input.errored === error || (error as { code?: unknown } | undefined)?.code === "ERR_STREAM_PREMATURE_CLOSE");
