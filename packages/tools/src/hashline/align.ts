/** Aligns two states of a text: which lines of the one are certainly which lines of the other. Pure. */
import { unambiguousMatches, type Effort } from "./unambiguous-matches.ts";

/** Lines are counted from 0. Line -1 is the start of a text, and the line after the last its end. */
interface Alignment {
  /**
   * How far lines `first` to `last` moved, which are still there, together and unchanged; undefined when that is not
   * certain. It is certain between two pins.
   */
  getOffset(first: number, last: number): number | undefined;
  /**
   * Returns the offset of a line and those up to the nearest pin above it, or below it. On its other side all may differ.
   */
  offsetFrom(line: number, side: "above" | "below"): number | undefined;
  /** Roughly where a line is now. */
  guess(line: number): number;
}

/** How many lines a pin may be away. */
const maxLinesToPin = 200;

/**
 * A pin is a line that occurs once in both texts and that every shortest diff between them keeps: a block that was cut
 * out may have been pasted elsewhere. The start and the end of the texts are pins.
 */
export function alignLines(before: readonly string[], now: readonly string[], effort: Effort): Alignment {
  const minLength = Math.min(before.length, now.length);
  let head = 0;
  while (head < minLength && before[head] === now[head]) head++;
  let tail = 0;
  while (tail < minLength - head && before[before.length - 1 - tail] === now[now.length - 1 - tail]) tail++;
  const bottom = before.length - tail;
  const shift = now.length - before.length;
  const old = createPositions(before);
  const fresh = createPositions(now.slice(head, bottom + shift));
  /** Where the same line is now, if it occurs once in both texts; else -1. */
  const findTwin = (line: number): number => {
    const text = before[line]!;
    if (old(text) === -1) return -1;
    const position = fresh(text);
    if (line >= head && line < bottom) return position === undefined || position < 0 ? -1 : position + head;
    if (position !== undefined) return -1;
    return line < head ? line : line + shift;
  };

  // Some shortest diff keeps all of the head and the tail, and what it does between them does not depend on them. Where
  // such lines could as well be others, no pin follows them before the middle begins.
  let middle: Int32Array | undefined;
  const middlePosition = (line: number): number | undefined => {
    middle ??= matchLines(before.slice(head, bottom), now.slice(head, bottom + shift), effort) ?? new Int32Array();
    const position = middle[line - head] ?? -1;
    return position < 0 ? undefined : position + head;
  };
  /** Where a line is now, if it is certain for its part of the text. */
  const getPosition = (line: number): number | undefined => {
    if (line < head) return line;
    return line >= bottom ? line + shift : middlePosition(line);
  };

  const isPin = (line: number) => line < 0 || line >= before.length || findTwin(line) >= 0;
  /** The nearest pin from a line on, if all lines up to it moved together. */
  const pinFrom = (line: number, step: 1 | -1): { line: number; offset: number } | undefined => {
    const position = getPosition(line);
    if (position === undefined) return undefined;
    const offset = position - line;
    for (
      let index = line, left = maxLinesToPin;
      left > 0 && getPosition(index) === index + offset;
      index += step, left--
    ) {
      if (isPin(index)) return { line: index, offset };
    }
    return undefined;
  };

  return {
    getOffset(first, last) {
      const above = pinFrom(first, -1);
      const below = pinFrom(last, 1);
      if (!above || !below) return undefined;
      const { offset } = above;
      for (let line = first; line <= last; line++) if (getPosition(line) !== line + offset) return undefined;
      if (above.line !== below.line) return offset;
      // A single line may have been copied elsewhere and then changed here.
      const others = [pinFrom(first - 1, -1), pinFrom(last + 1, 1)];
      return others.some((pin) => pin?.offset === offset) ? offset : undefined;
    },
    offsetFrom: (line, side) => pinFrom(line, side === "above" ? -1 : 1)?.offset,
    guess(line) {
      const last = Math.min(line, before.length - 1);
      for (let index = last; index >= 0 && index > last - maxLinesToPin; index--) {
        const twin = findTwin(index);
        if (twin >= 0) return twin + line - index;
      }
      return line;
    },
  };
}

/** How many lines are searched for one by one before it is cheaper to index all of them. */
const maxSearches = 16;

/** A function that finds a line: -1 if it occurs more than once, undefined if never. */
function createPositions(lines: readonly string[]): (line: string) => number | undefined {
  let searches = 0;
  let positions: Map<string, number> | undefined;
  return (line) => {
    if (++searches > maxSearches) return (positions ??= getPositions(lines)).get(line);
    const first = lines.indexOf(line);
    if (first < 0) return undefined;
    return lines.includes(line, first + 1) ? -1 : first;
  };
}

function getPositions(lines: readonly string[]): Map<string, number> {
  const positions = new Map<string, number>();
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index]!;
    positions.set(line, positions.has(line) ? -1 : index);
  }
  return positions;
}

/** Matches lines like `unambiguousMatches`. */
export function matchLines(before: readonly string[], now: readonly string[], effort: Effort): Int32Array | undefined {
  const names = new Map<string, number>();
  const named = (lines: readonly string[]) => {
    const list = new Int32Array(lines.length);
    for (let index = 0; index < lines.length; index++) {
      const line = lines[index]!;
      const name = names.get(line) ?? names.size;
      if (name === names.size) names.set(line, name);
      list[index] = name;
    }
    return list;
  };
  return unambiguousMatches(named(before), named(now), effort);
}
