/** Reading of many files: each in one go, and synchronously where that costs less. */
import { constants } from "node:fs";
import { closeAfter } from "@tau/ai/internal";
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
