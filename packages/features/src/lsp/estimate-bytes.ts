/** An estimate for an object, a number or a key. */
const nodeBytes = 32;

/** Estimates the memory that a value of JSON takes, however deep it is. Looks no further once there are more than `maxBytes`. */
export function estimateBytes(value: unknown, maxBytes: number): number {
  const pending = [value];
  let bytes = nodeBytes;
  while (pending.length > 0 && bytes <= maxBytes) {
    const next = pending.pop();
    if (typeof next === "string") bytes += 2 * next.length;
    if (typeof next !== "object" || next === null) continue;
    for (const [key, member] of Object.entries(next)) {
      bytes += nodeBytes + 2 * key.length;
      if (bytes > maxBytes) return bytes;
      pending.push(member);
    }
  }
  return bytes;
}
