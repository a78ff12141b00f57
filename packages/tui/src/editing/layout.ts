/** The rows of a document on the screen. */
import { type Cluster, clustersFrom } from "./clusters.ts";
import type { Position, TextDocument } from "./document.ts";
import { findAtoms, type Pastes } from "./paste-markers.ts";
import { splice } from "./splice.ts";
import { findChangedLines } from "./undo.ts";
import { rewrapRows, wrapRows } from "./wrap-rows.ts";

export interface Layout {
  readonly width: number;
  readonly lines: readonly string[];
  readonly pastes: Pastes;
  /** For each line, where its rows begin. */
  readonly starts: readonly (readonly number[])[];
  /** For each line, its first row; and how many rows there are. */
  readonly firstRows: Uint32Array;
}

export interface Row {
  readonly line: number;
  readonly start: number;
  readonly end: number;
  /** Whether the line ends here. */
  readonly isLast: boolean;
}

/** Only lines that are not in `previous` are broken into rows. */
export function layOut({ lines, pastes }: TextDocument, width: number, previous?: Layout): Layout {
  if (previous?.lines === lines && previous.width === width && previous.pastes === pastes) return previous;
  const starts = wrapLines({ lines, pastes }, width, previous);
  const firstRows = new Uint32Array(starts.length + 1);
  starts.forEach((rows, line) => {
    firstRows[line + 1] = (firstRows[line] as number) + rows.length;
  });
  return { width, lines, pastes, starts, firstRows };
}

function wrapLines({ lines, pastes }: Pick<TextDocument, "lines" | "pastes">, width: number, previous?: Layout) {
  const wrap = (line: string) => wrapRows(line, width, findAtoms(line, pastes));
  if (previous?.width !== width || previous.pastes !== pastes) return lines.map(wrap);
  const { start, end } = findChangedLines(previous.lines, lines);
  const changed = lines.slice(start, lines.length - end).map((line, index) => {
    const old = { line: previous.lines[start + index] ?? "", starts: previous.starts[start + index] ?? [0] };
    return rewrapRows(old, line, width, findAtoms(line, pastes));
  });
  return splice(previous.starts, start, previous.starts.length - start - end, changed);
}

export const countRows = ({ firstRows }: Layout): number => firstRows.at(-1) as number;

export function getRow(layout: Layout, row: number): Row {
  const line = findLast(layout.firstRows, row, layout.lines.length);
  const starts = layout.starts[line] as readonly number[];
  const index = row - (layout.firstRows[line] as number);
  const next = starts[index + 1];
  return {
    line,
    start: starts[index] as number,
    end: next ?? (layout.lines[line] as string).length,
    isLast: next === undefined,
  };
}

/** A position between two rows of a line is at the start of the second. */
export function findRow(layout: Layout, { line, col }: Position): number {
  const starts = layout.starts[line] as readonly number[];
  return (layout.firstRows[line] as number) + findLast(starts, col, starts.length);
}

/** The last of the first `length` numbers, which ascend, that is not greater than `value`. */
function findLast(numbers: ArrayLike<number>, value: number, length: number): number {
  let low = 0;
  let high = length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((numbers[middle] as number) <= value) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** In columns from the start of the row. */
export function getColumn(layout: Layout, row: Row, col: number): number {
  let column = 0;
  for (const cluster of rowClusters(layout, row)) {
    if (cluster.index >= col) break;
    column += cluster.width;
  }
  return column;
}

/** The last position of a row, in columns: before its last cluster, unless the line ends there. */
export function getMaxColumn(layout: Layout, row: Row): number {
  let column = 0;
  let lastWidth = 0;
  for (const { width } of rowClusters(layout, row)) {
    column += width;
    lastWidth = width;
  }
  return row.isLast ? column : column - lastWidth;
}

/** The cluster that is drawn in a column, or the end of the row. */
export function findCol(layout: Layout, row: Row, column: number): number {
  let end = 0;
  let last = row.start;
  for (const { index, width } of rowClusters(layout, row)) {
    end += width;
    last = index;
    if (end > column) return index;
  }
  return row.isLast ? row.end : last;
}

export function* rowClusters(layout: Layout, { line, start, end }: Row): Generator<Cluster> {
  const text = (layout.lines[line] as string).slice(0, end);
  const atoms = findAtoms(text, layout.pastes).filter((atom) => atom.start >= start);
  yield* clustersFrom(text, start, atoms);
}
