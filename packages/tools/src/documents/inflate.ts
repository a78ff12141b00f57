/** Inflates on the threads of zlib, within the limits of archives: a small file can become a large one. */
import { pipeline, Readable } from "node:stream";
import { createGunzip, createInflateRaw } from "node:zlib";
import { ToolsError } from "../errors.ts";
import { refuseAborted } from "../files/abort.ts";
import { formatBytes } from "../truncate.ts";

/** Limits the bytes that one read unpacks. */
const maxUnpackedBytes = 100 * 1024 * 1024;
const maxRatio = 100;
/** Less may be packed as well as it likes: it does no harm. */
const freeBytes = 1024 * 1024;

interface InflateOptions {
  kind: "raw" | "gzip";
  /** Names the file or member in messages. */
  name: string;
  signal: AbortSignal | undefined;
}

/** Yields the bytes in pieces. Throws a `ToolsError` where they are damaged, or become too many. */
export async function* inflateChunks(
  packed: AsyncIterable<Buffer>,
  { kind, name, signal }: InflateOptions,
): AsyncGenerator<Buffer> {
  const transform = kind === "gzip" ? createGunzip() : createInflateRaw();
  let total = 0;
  // Whatever fails in between fails the iteration too.
  pipeline(Readable.from(packed), transform, () => {});
  try {
    for await (const chunk of transform as AsyncIterable<Buffer>) {
      refuseAborted(signal);
      total += chunk.length;
      refuseBomb({ packedBytes: transform.bytesWritten, unpackedBytes: total }, name);
      yield chunk;
    }
  } catch (error) {
    if (error instanceof ToolsError || !isZlibError(error)) throw error;
    throw new ToolsError("binary", `${name} is damaged: it cannot be unpacked (${(error as Error).message}).`, {
      cause: error,
    });
  }
}

const isZlibError = (error: unknown): boolean =>
  error instanceof Error && ((error as NodeJS.ErrnoException).code ?? "").startsWith("Z_");

/** Throws for bytes that became too many. Pure. */
export function refuseBomb(
  { packedBytes, unpackedBytes }: { packedBytes: number; unpackedBytes: number },
  name: string,
): void {
  if (unpackedBytes > maxUnpackedBytes) {
    const limit = formatBytes(maxUnpackedBytes);
    throw new ToolsError("too_large", `${name} becomes larger than ${limit}, which is the limit. Unpack it with bash.`);
  }
  if (unpackedBytes > freeBytes && unpackedBytes > maxRatio * packedBytes) {
    throw new ToolsError(
      "too_large",
      `${name} becomes more than ${maxRatio} times as large as it is packed, as a bomb does. It is not unpacked.`,
    );
  }
}
