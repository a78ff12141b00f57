/** Reads the lines of a file of another program, however large it is. */
import { constants } from "node:fs";
import { mustBeRegular } from "@tau/tools/durable";
import { type FileSystem, nodeFileSystem } from "@tau/tools/platform";

/** A longer line is left out: it would have to be in memory as a whole, several times. */
const maxLineBytes = 32 * 1024 * 1024;
const chunkBytes = 256 * 1024;

export interface ReadLinesOptions {
  fileSystem?: FileSystem;
  maxBytes?: number;
  signal?: AbortSignal;
}

/** From 1. `text` is undefined for a line that is too long. `isOpen` marks a last line without a line feed. */
interface Line {
  number: number;
  text: string | undefined;
  isOpen: boolean;
}

/** Holds one line at a time. Rejects with the system's error, with `EINVAL` for a pipe or a device. */
export async function* readLines(path: string, options: ReadLinesOptions = {}): AsyncGenerator<Line> {
  const { fileSystem = nodeFileSystem, maxBytes = maxLineBytes, signal } = options;
  // Without O_NONBLOCK, opening a pipe would wait for a writer.
  const handle = await fileSystem.open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const lines: Line[] = [];
  const reader = new LineReader(maxBytes, (line) => lines.push(line));
  try {
    mustBeRegular(path, await handle.stat());
    const chunk = Buffer.allocUnsafe(chunkBytes);
    for (let position = 0; ;) {
      signal?.throwIfAborted();
      const count = await handle.read(chunk, position);
      if (count === 0) break;
      position += count;
      reader.push(chunk.subarray(0, count));
      yield* lines.splice(0);
    }
    reader.end();
    yield* lines;
  } finally {
    await handle.close();
  }
}

class LineReader {
  readonly #maxBytes: number;
  readonly #onLine: (line: Line) => void;
  #parts: Buffer[] = [];
  #length = 0;
  #number = 0;

  constructor(maxBytes: number, onLine: (line: Line) => void) {
    this.#maxBytes = maxBytes;
    this.#onLine = onLine;
  }

  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(0x0a); end >= 0; end = chunk.indexOf(0x0a, start)) {
      this.#add(chunk.subarray(start, end));
      this.#finish(false);
      start = end + 1;
    }
    this.#add(chunk.subarray(start));
  }

  end(): void {
    if (this.#length > 0) this.#finish(true);
  }

  #add(part: Buffer): void {
    if (part.length === 0) return;
    this.#length += part.length;
    if (this.#length > this.#maxBytes) this.#parts = [];
    // A copy, since the chunk is used again.
    else this.#parts.push(Buffer.from(part));
  }

  #finish(isOpen: boolean): void {
    const isTooLong = this.#length > this.#maxBytes;
    const text = isTooLong ? undefined : Buffer.concat(this.#parts).toString("utf8");
    this.#onLine({ number: ++this.#number, text, isOpen });
    this.#parts = [];
    this.#length = 0;
  }
}
