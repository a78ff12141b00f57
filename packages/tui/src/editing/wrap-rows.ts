/** Breaks a line that is edited into rows: nothing of it is dropped, so that the cursor can be anywhere. */
import { wideText } from "../text/wrap.ts";
import { type Atom, clustersFrom } from "./clusters.ts";

const blank = /^\s/;
const short = /^[\x20-\x7e]*$/;

/**
 * Where the rows of a line begin; the first at 0. Rows end after blanks where they can, and before and after characters of
 * scripts without blanks. An atom that is wider than a row begins
 * on a row of its own and is broken like text.
 */
export function wrapRows(line: string, width: number, atoms: readonly Atom[] = []): number[] {
  if (line.length <= width && short.test(line)) return [0];
  return [0, ...rowStarts(line, 0, width, atoms)];
}

/** Where the rows after the one at `start` begin. Depends on nothing before `start`. */
function* rowStarts(line: string, start: number, width: number, atoms: readonly Atom[]): Generator<number> {
  const isWide = (atom: Atom) => atom.end - atom.start > width;
  const wideAtoms = atoms.filter(isWide);
  let rowStart = start;
  let column = 0;
  let opportunity: { index: number; column: number } | undefined;
  let previous: Kind = "other";
  for (const { index, text, width: clusterWidth } of clustersFrom(
    line,
    start,
    atoms.filter((atom) => !isWide(atom)),
  )) {
    const kind = getKind(text);
    if (index > rowStart && mayBreakBetween(previous, kind)) opportunity = { index, column };
    if (wideAtoms.some((atom) => atom.end === index)) opportunity = undefined;
    previous = kind;
    column += clusterWidth;
    const isForced = wideAtoms.some((atom) => atom.start === index);
    if ((column <= width && !isForced) || index === rowStart) continue;
    // What does not fit on the next row either is not moved there.
    const isMoved = !isForced && opportunity && column - opportunity.column <= width;
    rowStart = isMoved && opportunity ? opportunity.index : index;
    column = isMoved && opportunity ? column - opportunity.column : clusterWidth;
    opportunity = undefined;
    yield rowStart;
  }
}

type Kind = "blank" | "wide" | "other";

function mayBreakBetween(before: Kind, after: Kind): boolean {
  return after !== "blank" && (before !== "other" || after === "wide");
}

const kinds: Kind[] = [];

function getKind(cluster: string): Kind {
  const code = cluster.codePointAt(0) ?? 0;
  return (kinds[code] ??= blank.test(cluster) ? "blank" : wideText.test(cluster) ? "wide" : "other");
}

/** Shorter lines are wrapped anew. */
const minLength = 2000;

/** Wraps like `wrapRows`, from the rows of the line before an edit. */
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
  for (const start of rowStarts(line, starts.at(-1) as number, width, atoms)) {
    starts.push(start);
    if (start <= line.length - suffix) continue;
    while (oldRow < old.starts.length && (old.starts[oldRow] as number) + delta < start) oldRow++;
    if ((old.starts[oldRow] as number) + delta !== start) continue;
    return starts.concat(old.starts.slice(oldRow + 1).map((rest) => rest + delta));
  }
  return starts;
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
