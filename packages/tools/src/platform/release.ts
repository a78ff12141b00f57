/**
 * Freeing memory at once. The collector frees what was read from a pipe, but it comes when enough small things were made,
 * and does not look at how large the buffers are that wait for it. What is sent away is not ours any more; and what is
 * sent through a closed port reaches nobody, so that its memory is freed.
 */
import type { Readable } from "node:stream";

/** Pipes whose pieces are for one reader alone. Whoever puts another stream in the place of one may keep its pieces. */
const ownPipes = new WeakSet<Readable>();

export function ownPipe(stream: Readable): Readable {
  ownPipes.add(stream);
  return stream;
}

/** What frees a piece of this stream that nobody will look at again; undefined where the collector has to. */
export const createReleaser = (stream: Readable): ((piece: Buffer) => void) | undefined =>
  ownPipes.has(stream) ? release : undefined;

let nowhere: MessagePort | undefined;

/** Less is not worth the way: then the small things made along with it are as large. */
const minBytes = 4 * 1024;

/** Empties a buffer that is a memory of its own, and leaves others alone. */
export function release({ buffer, byteLength }: Buffer): void {
  if (byteLength < minBytes || byteLength !== buffer.byteLength || !(buffer instanceof ArrayBuffer)) return;
  nowhere ??= closedPort();
  nowhere.postMessage(undefined, [buffer]);
}

function closedPort(): MessagePort {
  const { port1 } = new MessageChannel();
  port1.close();
  return port1;
}
