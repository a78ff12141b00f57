/**
 * How well a path fits what was typed. Pure. It runs for thousands of paths with every key: it works on bytes, creates no
 * objects, and does in levels what it can, so that the costly levels run only when the cheap ones give too little.
 */
import { getKindBits, lowerCase } from "./path-list.ts";

export interface PathQuery {
  readonly text: string;
  /** In lower case: all of it; what is before its last slash, with it; and what is after it. */
  readonly whole: Uint8Array;
  readonly directory: Uint8Array;
  readonly name: Uint8Array;
  readonly kinds: number;
}

/** A path in an array of bytes. */
export interface PathRange {
  bytes: Uint8Array;
  start: number;
  end: number;
  /** Where its name begins. */
  nameStart: number;
  /** How many directories are above it. */
  depth: number;
}

/**
 * A match at a level is one at the next levels too. `prefix`: below the typed directory, with a name that begins
 * with the typed name. `name`: the name contains it. `anywhere`: all bytes of the query are in the path, in their order.
 */
export const levels = ["prefix", "name", "anywhere"] as const;
export type Level = (typeof levels)[number];

const [slash, dot] = [0x2f, 0x2e];
/** Longer than any path. */
const lengthRange = 2 ** 16;
/** Ranks without the length. Below `nameTier` there are only paths at level `prefix`. */
const nameTier = 2 ** 10;
const otherTier = nameTier + 1;

export function toPathQuery(text: string): PathQuery {
  const whole = Uint8Array.from(Buffer.from(text), (byte) => lowerCase[byte]!);
  const directoryLength = whole.lastIndexOf(slash) + 1;
  return {
    text,
    whole,
    directory: whole.subarray(0, directoryLength),
    name: whole.subarray(directoryLength),
    kinds: getKindBits(whole, 0, whole.length),
  };
}

/** Whether the paths that match `longer` at a level are a part of those that match `shorter` at it. */
export const isNarrower = (longer: PathQuery, shorter: PathQuery): boolean =>
  shorter.whole.length > 0 &&
  longer.text.startsWith(shorter.text) &&
  longer.directory.length === shorter.directory.length;

/** Whether a path matches at one of the first two levels. */
export function isNameMatch(level: "prefix" | "name", { directory, name }: PathQuery, path: PathRange): boolean {
  const { bytes, start, end, nameStart } = path;
  if (!startsWith(directory, bytes, start, end)) return false;
  // The name of the path may begin within the typed directory: then the path is that directory.
  if (nameStart < start + directory.length) return false;
  return level === "prefix" ? startsWith(name, bytes, nameStart, end) : find(name, bytes, nameStart, end) !== -1;
}

/**
 * The rank of a path that matches at any level; less is better. Where paths are equal, short ones come first; if no name
 * was typed, those near the typed directory, hidden ones last. Infinity if the path is not shown.
 */
export function rankPath({ whole, directory, name }: PathQuery, path: PathRange): number {
  const { bytes, start, end, nameStart } = path;
  const length = end - start;
  if (nameStart >= start + directory.length && startsWith(directory, bytes, start, end)) {
    if (name.length === 0) return rankInDirectory(path.depth, bytes[nameStart]!);
    const index = find(name, bytes, nameStart, end);
    if (index === nameStart) return length;
    if (index !== -1) return nameTier * lengthRange + length;
  }
  // The typed directory itself adds nothing to what was typed.
  if (name.length === 0 && length === whole.length && startsWith(whole, bytes, start, end)) return Infinity;
  return (otherTier + rankElsewhere(whole, path)) * lengthRange + length;
}

/** The rank of a path below the typed directory if no name was typed. */
export const rankInDirectory = (depth: number, firstByte: number): number =>
  (depth * 2 + (firstByte === dot ? 1 : 0)) * lengthRange;

/** No rank of a path that is new at this level is less. Cheaper than the rank itself. */
export function getMinRank(level: Level, { name }: PathQuery, { start, end, depth }: PathRange): number {
  if (level === "anywhere") return otherTier * lengthRange + end - start;
  if (level === "name") return nameTier * lengthRange + end - start;
  return name.length === 0 ? depth * 2 * lengthRange : end - start;
}

/** The first level at which a path of this rank matches; undefined if it is never shown. */
export function getLevel(rank: number): Level | undefined {
  if (rank === Infinity) return undefined;
  if (rank < nameTier * lengthRange) return "prefix";
  return rank < otherTier * lengthRange ? "name" : "anywhere";
}

function rankElsewhere(whole: Uint8Array, { bytes, start, end, nameStart }: PathRange): number {
  const index = find(whole, bytes, start, end);
  if (index === -1) return hasInOrder(whole, bytes, nameStart, end) ? 2 : 3;
  return index === start || bytes[index - 1] === slash ? 0 : 1;
}

function startsWith(wanted: Uint8Array, bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start < wanted.length) return false;
  for (let index = 0; index < wanted.length; index++) {
    if (lowerCase[bytes[start + index]!] !== wanted[index]) return false;
  }
  return true;
}

/** The index of the first occurrence, or -1. */
function find(wanted: Uint8Array, bytes: Uint8Array, start: number, end: number): number {
  if (wanted.length === 0) return start;
  const first = wanted[0];
  const last = end - wanted.length;
  for (let index = start; index <= last; index++) {
    if (lowerCase[bytes[index]!] !== first) continue;
    let length = 1;
    while (length < wanted.length && lowerCase[bytes[index + length]!] === wanted[length]) length++;
    if (length === wanted.length) return index;
  }
  return -1;
}

const hasInOrder = (wanted: Uint8Array, bytes: Uint8Array, start: number, end: number): boolean =>
  countInOrder({ wanted, first: 0 }, bytes, start, end) === wanted.length;

/** How many of the wanted bytes were found, in their order, if the ones before `first` were found before. */
export function countInOrder(
  { wanted, first }: { wanted: Uint8Array; first: number },
  bytes: Uint8Array,
  start: number,
  end: number,
): number {
  let next = first;
  for (let index = start; next < wanted.length && index < end; index++) {
    if (lowerCase[bytes[index]!] === wanted[next]) next++;
  }
  return next;
}
