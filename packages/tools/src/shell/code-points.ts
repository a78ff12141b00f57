/** Finds where code points begin in UTF-8. */

/** The first index from `from` on where a code point begins. */
export function nextBoundary(bytes: Uint8Array, from: number): number {
  while (from < bytes.length && (bytes[from]! & 0xc0) === 0x80) from++;
  return from;
}

/** The last index up to `to` where a code point begins, or the end. */
export function lastBoundary(bytes: Uint8Array, to: number): number {
  if (to >= bytes.length) return bytes.length;
  while (to > 0 && (bytes[to]! & 0xc0) === 0x80) to--;
  return to;
}
