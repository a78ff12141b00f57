/** Collects the names that ripgrep lists. There may be millions, so each costs as little as possible. */
import type { Glob } from "./glob.ts";

export interface FirstNames {
  /** Names that end with a zero byte each. */
  push(chunk: Buffer): void;
  /** How many match. */
  readonly total: number;
  /** The first of them, ordered by their bytes. */
  sorted(): string[];
}

/** Keeps the first `limit` names that match, however many there are. */
export function createFirstNames(glob: Glob, limit: number): FirstNames {
  let kept: string[] = [];
  let total = 0;
  /** No name beyond it will be shown. */
  let last: string | undefined;
  let pending = Buffer.alloc(0);
  const settle = () => {
    kept = kept.sort().slice(0, limit);
    last = kept[limit - 1];
  };
  const take = (data: Buffer, text: string, from: number, end: number) => {
    if (!glob.matchesAll && !glob.matches(decoded(text.slice(from, end)))) return;
    total++;
    // Most names of a long list need not even be extracted.
    if (last !== undefined && isAfter(text, from, end, last)) return;
    // Not a slice of the text, which would keep all of it in memory.
    kept.push(data.toString("latin1", from, end));
    if (kept.length >= 2 * limit + 500) settle();
  };
  return {
    push(chunk) {
      const data = pending.length > 0 ? Buffer.concat([pending, chunk]) : chunk;
      // As Latin-1, with one character for each byte, names compare as their bytes do.
      const text = data.toString("latin1");
      let from = 0;
      for (let end = text.indexOf("\0"); end >= 0; end = text.indexOf("\0", from)) {
        take(data, text, from, end);
        from = end + 1;
      }
      pending = Buffer.from(data.subarray(from));
    },
    get total() {
      return total;
    },
    sorted() {
      settle();
      return kept.map(decoded);
    },
  };
}

/** The name, from its bytes as Latin-1. */
const decoded = (bytes: string): string =>
  /[\x80-\xff]/.test(bytes) ? Buffer.from(bytes, "latin1").toString("utf8") : bytes;

/** Whether the characters from `from` to before `end` come after `other`. */
function isAfter(text: string, from: number, end: number, other: string): boolean {
  const length = Math.min(end - from, other.length);
  for (let index = 0; index < length; index++) {
    const difference = text.charCodeAt(from + index) - other.charCodeAt(index);
    if (difference !== 0) return difference > 0;
  }
  return end - from > other.length;
}
