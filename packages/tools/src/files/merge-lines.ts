/** Joins two changes of one text, line by line. Pure. */
import { diffArrays } from "diff";

/** Lines of the base, from `start` to before `end`, and what takes their place. */
interface Hunk {
  readonly start: number;
  readonly end: number;
  readonly lines: readonly string[];
}

/** More differing lines than this are not compared. */
const maxDifferences = 4_000;

/** Undefined if both changed the same lines, or lines that follow each other, in different ways. */
export function mergeLines(base: string, ours: string, theirs: string): string | undefined {
  const lines = splitLines(base);
  const [first, second] = [findHunks(lines, splitLines(ours)), findHunks(lines, splitLines(theirs))];
  if (!first || !second) return undefined;
  const merged: string[] = [];
  let position = 0;
  for (let [a, b] = [0, 0]; a < first.length || b < second.length;) {
    const [mine, other] = [first[a], second[b]];
    const hunk = mine && (!other || mine.start <= other.start) ? mine : other!;
    if (mine && other && mine.start <= other.end && other.start <= mine.end) {
      if (!areEqual(mine, other)) return undefined;
      a++;
      b++;
    } else if (hunk === mine) a++;
    else b++;
    merged.push(...lines.slice(position, hunk.start), ...hunk.lines);
    position = hunk.end;
  }
  return [...merged, ...lines.slice(position)].join("");
}

const splitLines = (text: string): string[] => text.split(/(?<=\n)/).filter((line) => line !== "");

const areEqual = (a: Hunk, b: Hunk): boolean =>
  a.start === b.start && a.end === b.end && a.lines.join("") === b.lines.join("");

function findHunks(base: string[], changed: string[]): Hunk[] | undefined {
  const parts = diffArrays(base, changed, { maxEditLength: maxDifferences });
  if (!parts) return undefined;
  const hunks: { start: number; end: number; lines: string[] }[] = [];
  let position = 0;
  for (const { added, removed, value } of parts) {
    const last = hunks.at(-1);
    const hunk = last?.end === position ? last : { start: position, end: position, lines: [] };
    if ((added || removed) && hunk !== last) hunks.push(hunk);
    if (added) hunk.lines.push(...value);
    else position += value.length;
    if (removed) hunk.end = position;
  }
  return hunks;
}
