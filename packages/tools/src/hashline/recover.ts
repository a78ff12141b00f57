/** Finding lines again in a text that changed. Rather not at all than in the wrong place. Pure. */
import { diffArrays } from "diff";
import type { Hunk } from "./apply.ts";

/** Where a hunk goes in the text of now; the ways differ in what is reported. */
export interface Placement {
  hunks: Hunk[];
  way: "moved" | "merged";
}

export interface Relocator {
  /** The offset by which lines `start` to `end` (not included) moved; undefined when that is not certain. */
  offsetOf(start: number, end: number): number | undefined;
  /** A hunk on the text of before as hunks on the text of now. Insertions have the line they adjoin in `anchor`. */
  place(hunk: Hunk, anchor: { start: number; end: number }): Placement | undefined;
  /** Roughly where a line is now, for showing the spot. */
  guess(line: number): number;
}

/**
 * A line is known again by its surroundings: all lines from a pin above it to a pin below it are there, together and
 * unchanged. A pin is a line that occurs once in both texts (the line itself may be one), or the start or end of both.
 * Two pins at least: a single line may have been copied elsewhere and then changed here. And every shortest way from
 * one text to the other must keep the pins where they are: a block that was cut out may have been pasted elsewhere.
 */
export function createRelocator(before: readonly string[], now: readonly string[]): Relocator {
  const places = uniquePlaces(now);
  const unique = uniquePlaces(before);
  const pinOf = (line: number): number | undefined => {
    if (line < 0) return line;
    if (line >= before.length) return now.length + line - before.length;
    const text = before[line]!;
    return unique.get(text) === undefined ? undefined : places.get(text);
  };
  /** The nearest pin from `line` on, and the offset it stands at, if everything up to it is unchanged. */
  const pinFrom = (line: number, step: 1 | -1): { line: number; offset: number } | undefined => {
    for (let at = line; ; at += step) {
      const place = pinOf(at);
      if (place === undefined) continue;
      const offset = place - at;
      for (let between = line; between !== at; between += step) {
        if (before[between] !== now[between + offset]) return undefined;
      }
      return { line: at, offset };
    }
  };

  let distance: number | undefined;
  const isForced = memoized((line: number): boolean => {
    const place = pinOf(line);
    if (place === undefined || place < 0 || place >= now.length) return true;
    distance ??= distanceOf(before, now, maxEditLength) ?? Infinity;
    if (distance === Infinity) return false;
    return distanceOf(before, now.toSpliced(place, 1), distance) === undefined;
  });

  const offsetOf = (start: number, end: number): number | undefined => {
    const above = pinFrom(start, -1);
    const below = pinFrom(end - 1, 1);
    if (!above || !below || above.offset !== below.offset) return undefined;
    for (let line = start; line < end; line++) {
      if (before[line] !== now[line + above.offset]) return undefined;
    }
    if (!isForced(above.line) || !isForced(below.line)) return undefined;
    if (above.line !== below.line) return above.offset;
    const isSupported = [pinFrom(start - 1, -1), pinFrom(end, 1)].some((pin) => pin?.offset === above.offset);
    return isSupported ? above.offset : undefined;
  };

  /** Whether exactly this change was already made by somebody else. */
  const isMade = ({ start, end, lines }: Hunk): boolean => {
    const above = pinFrom(start - 1, -1);
    const below = pinFrom(end, 1);
    if (!above || !below || below.offset - above.offset !== lines.length - (end - start)) return false;
    if (!isForced(above.line) || !isForced(below.line)) return false;
    return lines.every((line, at) => now[start + above.offset + at] === line);
  };

  /** A change as small as it can be, line by line, as in a merge of three texts. */
  const merge = (hunk: Hunk): Hunk[] | undefined => {
    const hunks: Hunk[] = [];
    for (const part of smallest(hunk, before)) {
      // What is inserted between two lines needs both.
      const isInsertion = part.start === part.end;
      const from = isInsertion ? Math.max(0, part.start - 1) : part.start;
      const to = isInsertion ? Math.min(before.length, part.end + 1) : part.end;
      const offset = offsetOf(from, to);
      if (offset !== undefined) hunks.push({ ...part, start: part.start + offset, end: part.end + offset });
      else if (!isMade(part)) return undefined;
    }
    return hunks;
  };

  return {
    offsetOf,
    place(hunk, anchor) {
      const offset = offsetOf(anchor.start, anchor.end);
      if (offset !== undefined) {
        return { hunks: [{ ...hunk, start: hunk.start + offset, end: hunk.end + offset }], way: "moved" };
      }
      if (hunk.start === hunk.end) return isMade(hunk) ? { hunks: [], way: "merged" } : undefined;
      const hunks = merge(hunk);
      return hunks && { hunks, way: "merged" };
    },
    guess(line) {
      for (let at = Math.min(line, before.length - 1); at >= 0; at--) {
        const place = pinOf(at);
        if (place !== undefined) return place + line - at;
      }
      return line;
    },
  };
}

/** Where the lines stand that occur once. */
function uniquePlaces(lines: readonly string[]): Map<string, number | undefined> {
  const places = new Map<string, number | undefined>();
  for (const [at, line] of lines.entries()) places.set(line, places.has(line) ? undefined : at);
  return places;
}

/** How many lines the shortest way from one text to the other takes out and puts in; undefined when more than `most`. */
function distanceOf(before: readonly string[], now: readonly string[], most: number): number | undefined {
  const changes = diffArrays([...before], [...now], { maxEditLength: most });
  return changes?.reduce((sum, { added, removed, count }) => sum + (added || removed ? count : 0), 0);
}

function memoized<T>(work: (key: number) => T): (key: number) => T {
  const known = new Map<number, T>();
  return (key) => {
    if (!known.has(key)) known.set(key, work(key));
    return known.get(key)!;
  };
}

/** How long a comparison of old and new lines may become before it is given up: its cost grows with the square. */
const maxEditLength = 1_000;

function smallest(hunk: Hunk, before: readonly string[]): Hunk[] {
  const changes = diffArrays(before.slice(hunk.start, hunk.end), [...hunk.lines], { maxEditLength });
  if (!changes) return [hunk];
  const hunks: Hunk[] = [];
  let at = hunk.start;
  let current: { start: number; end: number; lines: string[] } | undefined;
  for (const change of changes) {
    if (!change.added && !change.removed) {
      if (current) hunks.push(current);
      current = undefined;
      at += change.count;
      continue;
    }
    current ??= { start: at, end: at, lines: [] };
    if (change.added) current.lines.push(...change.value);
    else at = current.end = at + change.count;
  }
  if (current) hunks.push(current);
  return hunks;
}
