/**
 * Frees the memory of a buffer at once. The garbage collector would free what was read from a pipe, but it runs when
 * enough small objects were made, however large the buffers are that wait for it. Transferring a buffer to a closed port
 * frees its memory immediately.
 */
import type { Readable } from "node:stream";

/** Pipes whose chunks have one reader only. The chunks of any other stream may still be used elsewhere. */
const ownPipes = new WeakSet<Readable>();

export function ownPipe(stream: Readable): Readable {
  ownPipes.add(stream);
  return stream;
}

/** A function that frees a chunk of this stream after it was read; undefined for a stream whose chunks may be shared. */
export const createReleaser = (stream: Readable): ((piece: Buffer) => void) | undefined =>
  ownPipes.has(stream) ? release : undefined;

let port: MessagePort | undefined;

/** Freeing less costs more than it gains. */
const minBytes = 4 * 1024;

/** Frees a buffer that has an `ArrayBuffer` of its own; others are left as they are. */
export function release({ buffer, byteLength }: Buffer): void {
  if (byteLength < minBytes || byteLength !== buffer.byteLength || !(buffer instanceof ArrayBuffer)) return;
  port ??= createClosedPort();
  port.postMessage(undefined, [buffer]);
}

function createClosedPort(): MessagePort {
  const { port1 } = new MessageChannel();
  port1.close();
  return port1;
}
