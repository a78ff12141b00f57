/**
 * Predicts how a terminal changes its rows when it is resized. Terminals break lines that became too wide, join those
 * that they had broken, and then show the last rows: what has no room goes to the scrollback, and comes back when there
 * is room. Pure.
 */
import type { Painted } from "./paint.ts";

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

interface ResizeOptions {
  before: Size;
  after: Size;
  painted: Painted;
  /** The widths of the lines in the scrollback; the last is directly above the screen. */
  scrolledOut: readonly number[];
  /** See `Terminal.alwaysPullsRows`. */
  alwaysPulls?: boolean;
}

interface Resized {
  /** How many of our rows, from the first, are now in the scrollback. */
  pushed: number;
  /** How many lines of the scrollback are now on the screen, and how many rows of it they take. */
  pulled: number;
  pulledRows: number;
  /** How many rows of the screen are above the cursor that are ours; undefined if all of them are. */
  rowsAbove: number | undefined;
  /** Whether the scrollback ends inside a line, which the terminal has broken. */
  isSplit: boolean;
}

export function resizeRows({ before, after, painted, scrolledOut, alwaysPulls = false }: ResizeOptions): Resized {
  const { rows, cursor } = painted;
  const isFull = rows.length >= before.rows;
  const pullsIfTaller = alwaysPulls || cursor.row === before.rows - 1;
  // Rows below the cursor are taken away first.
  const kept = rows.slice(0, Math.max(cursor.row + 1, after.rows));
  const heights = kept.map(({ width }, row) => (row === cursor.row ? 1 : countRows(width, after.columns)));
  const total = sum(heights);
  if (total > after.rows) {
    const excess = total - after.rows;
    const pushed = countPushed(heights, excess);
    const isSplit = sum(heights.slice(0, pushed)) < excess;
    return { pushed, pulled: 0, pulledRows: 0, rowsAbove: undefined, isSplit };
  }
  const rowsAbove = isFull ? undefined : sum(heights.slice(0, cursor.row));
  if (!isFull || !(pullsIfTaller || after.columns > before.columns))
    return { pushed: 0, pulled: 0, pulledRows: 0, rowsAbove, isSplit: false };
  const room = (pullsIfTaller ? after.rows : before.rows) - total;
  const pulled = countPulled(scrolledOut, room, after.columns);
  const widths = pulled === 0 ? [] : scrolledOut.slice(-pulled);
  const pulledRows = sum(widths.map((width) => countRows(width, after.columns)));
  return { pushed: 0, pulled, pulledRows: Math.min(room, pulledRows), rowsAbove, isSplit: pulledRows > room };
}

/** How many rows these lines take in a terminal with so many columns. */
export const countReflowed = (rows: readonly { width: number }[], columns: number): number =>
  sum(rows.map(({ width }) => countRows(width, columns)));

const countRows = (width: number, columns: number) => Math.max(1, Math.ceil(width / columns));

const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);

/** A line of which one row is still on the screen is not gone. */
function countPushed(heights: readonly number[], excess: number): number {
  let count = 0;
  for (let left = excess; count < heights.length; count++) {
    left -= heights[count] as number;
    if (left < 0) break;
  }
  return count;
}

function countPulled(widths: readonly number[], room: number, columns: number): number {
  let count = 0;
  for (let left = room; count < widths.length && left > 0; count++) {
    left -= countRows(widths[widths.length - 1 - count] as number, columns);
  }
  return count;
}
