/**
 * The oldest server that a cluster may use. With older ones, two writers that expected the same last message of a subject
 * could both get the answer that theirs was stored.
 */
const oldest = [2, 10, 23] as const;

const oldestServer = oldest.join(".");

/** Undefined if this version may be used, else a sentence for people. */
export function refuseVersion(version: string): string | undefined {
  const parts = /^(\d+)\.(\d+)\.(\d+)/.exec(version)?.slice(1).map(Number);
  const isNew = parts !== undefined && compare(parts, oldest) >= 0;
  return isNew ? undefined : `nats-server ${version} is too old for a cluster: it needs ${oldestServer} or newer.`;
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (const [index, part] of b.entries()) if (a[index] !== part) return a[index]! - part;
  return 0;
}
