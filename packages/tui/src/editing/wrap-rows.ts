/** Breaks a line that is edited into rows: nothing of it is dropped, so that the cursor can be anywhere. */
import { wideText } from "../text/wrap.ts";
import { type Atom, type Cluster, clustersFrom } from "./clusters.ts";

const blank = /^\s/;
const short = /^[\x20-\x7e]*$/;

/**
 * Where the rows of a line begin; the first at 0. Rows end after blanks where they can, and before and after characters of
 * scripts without blanks. An atom that is wider than a row is broken like text.
 */
export function wrapRows(line: string, width: number, atoms: readonly Atom[] = []): number[] {
  const starts = [0];
  if (line.length <= width && short.test(line)) return starts;
  for (let start = 0; ;) {
    start = findRowEnd(line, start, width, atoms);
    if (start >= line.length) return starts;
    starts.push(start);
  }
}

/** Depends on nothing before `start`. */
function findRowEnd(line: string, start: number, width: number, atoms: readonly Atom[]): number {
  let column = 0;
  let opportunity: { index: number; column: number } | undefined;
  let previous: Cluster | undefined;
  for (const cluster of clusters(line, start, width, atoms)) {
    if (previous && mayBreakBetween(previous.text, cluster.text)) opportunity = { index: cluster.index, column };
    const end = column + cluster.width;
    // What does not fit on the next row either is not moved there.
    if (end > width && previous)
      return opportunity && end - opportunity.column <= width ? opportunity.index : cluster.index;
    column = end;
    previous = cluster;
  }
  return line.length;
}

function* clusters(line: string, start: number, width: number, atoms: readonly Atom[]): Generator<Cluster> {
  const wide = atoms.find((atom) => start > atom.start && start < atom.end);
  if (wide) {
    yield* clustersFrom(line.slice(0, wide.end), start);
    yield* clusters(line, wide.end, width, atoms);
    return;
  }
  for (const cluster of clustersFrom(line, start, atoms)) {
    if (cluster.width > width && cluster.text.length > 1) {
      const end = cluster.index + cluster.text.length;
      yield* clustersFrom(line.slice(0, end), cluster.index);
    } else yield cluster;
  }
}

function mayBreakBetween(before: string, after: string): boolean {
  if (blank.test(before)) return !blank.test(after);
  return !blank.test(after) && (wideText.test(before) || wideText.test(after));
}

/** Shorter lines are wrapped anew. */
const minLength = 2000;

/** The same as `wrapRows`, from the rows of the line before an edit. */
export function rewrapRows(
  old: { line: string; starts: readonly number[] },
  line: string,
  width: number,
  atoms: readonly Atom[],
): number[] {
  if (line.length < minLength || old.line.length < minLength || atoms.length > 0) return wrapRows(line, width, atoms);
  const prefix = countSame(Math.min(line.length, old.line.length), (length) => [
    line.slice(0, length),
    old.line.slice(0, length),
  ]);
  const suffix = countSame(Math.min(line.length, old.line.length) - prefix, (length) => [
    line.slice(line.length - length),
    old.line.slice(old.line.length - length),
  ]);
  // The row before the one that changed may get some of it, and what joins with the character before it.
  const unchanged = old.starts.filter((start) => start <= prefix).length;
  const starts = old.starts.slice(0, Math.max(1, unchanged - 2));
  const delta = line.length - old.line.length;
  let oldRow = starts.length;
  for (let start = starts.at(-1) as number; ;) {
    start = findRowEnd(line, start, width, atoms);
    if (start >= line.length) return starts;
    starts.push(start);
    if (start <= line.length - suffix) continue;
    while (oldRow < old.starts.length && (old.starts[oldRow] as number) + delta < start) oldRow++;
    if ((old.starts[oldRow] as number) + delta !== start) continue;
    for (const rest of old.starts.slice(oldRow + 1)) starts.push(rest + delta);
    return starts;
  }
}

/** The greatest length up to `max` for which both texts are the same. Comparing pieces is faster than characters. */
function countSame(max: number, getPieces: (length: number) => [string, string]): number {
  let same = 0;
  let different = max + 1;
  while (different - same > 1) {
    const length = Math.floor((same + different) / 2);
    const [a, b] = getPieces(length);
    if (a === b) same = length;
    else different = length;
  }
  return same;
}
