/**
 * Frees the memory of what was read from a pipe. The garbage collector runs when enough small objects were made and does
 * not count the buffers that wait for it: on Node 24, 100 MB of output would take 50 MiB of memory.
 */
import type { Readable } from "node:stream";

/** Streams whose chunks nothing else reads. A stream that somebody put in the place of one may still use its chunks. */
const ownPipes = new WeakSet<Readable>();

export function ownPipe(stream: Readable): Readable {
  ownPipes.add(stream);
  return stream;
}

/** Returns a function that frees a chunk of this stream; undefined where only the garbage collector may. */
export const createReleaser = (stream: Readable): ((chunk: Buffer) => void) | undefined =>
  ownPipes.has(stream) ? release : undefined;

interface Transferable {
  /** ES2024. Node 20 does not have it, and does without: there 100 MB of output take 22 MiB. */
  transfer?(length: number): ArrayBuffer;
}

/** Empties a buffer that has its memory to itself, and leaves others alone. */
export function release({ buffer, byteLength }: Buffer): void {
  if (byteLength === buffer.byteLength && buffer instanceof ArrayBuffer) (buffer as Transferable).transfer?.(0);
}
