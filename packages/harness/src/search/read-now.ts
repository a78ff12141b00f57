/** Reading of many files: each in one go, and synchronously where that costs less. */
import { constants } from "node:fs";
import { closeAfter } from "@tau/ai/internal";
import { orUndefined } from "@tau/tools/durable";
import { type FileSystem, systemCode, unlessMissing } from "@tau/tools/platform";

/** Reads from `position` on until `buffer` is full or the file ends, and returns how much that was. Undefined if there is no such file. */
export async function readInto(
  fs: FileSystem,
  path: string,
  buffer: Buffer,
  position: number,
): Promise<number | undefined> {
  if (fs.readNow) return fs.readNow(path, buffer, position);
  const handle = await unlessMissing(fs.open(path, constants.O_RDONLY | constants.O_NONBLOCK));
  if (!handle) return undefined;
  return await closeAfter(handle, async () => {
    let length = 0;
    while (length < buffer.length) {
      const count = await handle.read(buffer.subarray(length), position + length);
      if (count === 0) break;
      length += count;
    }
    return length;
  });
}

/** Keeps one buffer, so that a thousand files take the memory of the largest. */
export class FileReader {
  readonly #fs: FileSystem;
  #buffer = Buffer.allocUnsafe(256 * 1024);

  constructor(fs: FileSystem) {
    this.#fs = fs;
  }

  /** Reads like `readWhole`. Undefined for a file that cannot be read, or not synchronously, or is longer than the buffer. */
  readNow(path: string): Buffer | undefined {
    try {
      const length = this.#fs.readNow?.(path, this.#buffer, 0);
      return length === undefined || length === this.#buffer.length ? undefined : this.#buffer.subarray(0, length);
    } catch (error) {
      if (systemCode(error) === undefined) throw error;
      return undefined;
    }
  }

  /** The content, until the next call. Undefined if there is no such file. */
  async readWhole(path: string): Promise<Buffer | undefined> {
    let length = await readInto(this.#fs, path, this.#buffer, 0);
    while (length === this.#buffer.length) {
      const larger = Buffer.allocUnsafe(this.#buffer.length * 2);
      larger.set(this.#buffer);
      this.#buffer = larger;
      const more = await readInto(this.#fs, path, larger.subarray(length), length);
      if (more === undefined) return undefined;
      length += more;
    }
    return length === undefined ? undefined : this.#buffer.subarray(0, length);
  }
}

interface Place {
  readonly offset: number;
  readonly length: number;
}

const maxWindowBytes = 1024 * 1024;
/** Bytes between two entries that cost less than another read. */
const maxGap = 32 * 1024;

/** Reads entries of a log, later ones first: neighbours in one go, and more of them the more were wanted before. */
export class EntryReader {
  readonly #fs: FileSystem;
  /** Shared by all logs. */
  #buffer = Buffer.allocUnsafe(256 * 1024);

  constructor(fs: FileSystem) {
    this.#fs = fs;
  }

  /** Yields the bytes of each entry, until the next one is asked for; undefined if they are not all there. */
  async *read(path: string, places: readonly Place[]): AsyncGenerator<Buffer | undefined, void> {
    let window = { start: 0, bytes: this.#buffer.subarray(0, 0) };
    let count = 1;
    for (const [number, { offset, length }] of places.entries()) {
      const { start, bytes } = window;
      if (offset < start || offset + length > start + bytes.length) {
        window = await this.#fill(path, places.slice(number, number + count));
        count *= 2;
      }
      const from = offset - window.start;
      const entry = window.bytes.subarray(from, from + length);
      yield entry.length === length ? entry : undefined;
    }
  }

  /** Reads the first of the places, and those that are near it. */
  async #fill(path: string, [first, ...others]: readonly Place[]) {
    const end = first!.offset + first!.length;
    let start = first!.offset;
    for (const { offset, length } of others) {
      if (offset > start || start - offset - length > maxGap || end - offset > maxWindowBytes) break;
      start = offset;
    }
    if (this.#buffer.length < end - start) this.#buffer = Buffer.allocUnsafe(end - start);
    const bytes = this.#buffer.subarray(0, end - start);
    const count = await orUndefined(readInto(this.#fs, path, bytes, start));
    return { start, bytes: bytes.subarray(0, count ?? 0) };
  }
}
