/** Bytes that are read from the beginning to the end, wherever they come from. */
import type { ReadableFile } from "../platform/files.ts";

export type RandomAccess = Pick<ReadableFile, "size" | "read">;

/** Reads up to `length` bytes; fewer only at the end of the file. */
export async function readAt(file: RandomAccess, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(Math.max(0, Math.min(length, file.size - position)));
  let size = 0;
  while (size < buffer.length) {
    const count = await file.read(buffer.subarray(size), position + size);
    if (count === 0) break;
    size += count;
  }
  return buffer.subarray(0, size);
}

const chunkBytes = 64 * 1024;

/** The bytes from `start` to `end`, in pieces. */
export async function* readChunks(file: RandomAccess, start = 0, end = file.size): AsyncGenerator<Buffer> {
  for (let position = start; position < end;) {
    const chunk = await readAt(file, position, Math.min(chunkBytes, end - position));
    if (chunk.length === 0) return;
    position += chunk.length;
    yield chunk;
  }
}

/** Bytes in memory, as a file. */
export const toRandomAccess = (bytes: Uint8Array): RandomAccess => ({
  size: bytes.length,
  async read(buffer, position) {
    const part = bytes.subarray(position, position + buffer.length);
    buffer.set(part);
    return part.length;
  },
});

/** Bytes that can only be read once, in their order. */
export interface ByteStream {
  /** The next bytes; fewer than `length` only at the end. */
  take(length: number): Promise<Buffer>;
  /** Resolves with how many bytes there were to skip. */
  skip(length: number): Promise<number>;
  close(): Promise<void>;
}

/** Skipping reads nothing. */
export function streamFile(file: RandomAccess): ByteStream {
  let position = 0;
  return {
    async take(length) {
      const bytes = await readAt(file, position, length);
      position += bytes.length;
      return bytes;
    },
    async skip(length) {
      const count = Math.max(0, Math.min(length, file.size - position));
      position += count;
      return count;
    },
    close: async () => {},
  };
}

export function streamChunks(chunks: AsyncGenerator<Buffer>): ByteStream {
  let rest: Buffer = Buffer.alloc(0);
  /** Hands out the next bytes in pieces, at most `length`. */
  const pull = async (length: number, use: (piece: Buffer) => void): Promise<number> => {
    let count = 0;
    while (count < length) {
      if (rest.length === 0) {
        const next = await chunks.next();
        if (next.done) break;
        rest = next.value;
        continue;
      }
      const piece = rest.subarray(0, length - count);
      rest = rest.subarray(piece.length);
      count += piece.length;
      use(piece);
    }
    return count;
  };
  return {
    async take(length) {
      const pieces: Buffer[] = [];
      await pull(length, (piece) => pieces.push(piece));
      return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
    },
    skip: (length) => pull(length, () => {}),
    close: async () => void (await chunks.return(undefined)),
  };
}
