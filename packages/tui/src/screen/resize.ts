/**
 * What a terminal does to its rows when it is resized. They break lines that became too wide, join those that they had broken,
 * and then show the last rows: what has no room goes to the scrollback, and comes back when there is room. Pure.
 */
import type { Painted } from "./paint.ts";

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

export interface ResizeOptions {
  before: Size;
  after: Size;
  painted: Painted;
  /** The widths of the lines in the scrollback; the last is directly above the screen. */
  scrolledOut: readonly number[];
  /** See `Terminal.alwaysPullsRows`. */
  alwaysPulls?: boolean;
}

export interface Resized {
  /** How many of our rows, from the first, are now in the scrollback. */
  pushed: number;
  /** How many lines of the scrollback are now on the screen. */
  pulled: number;
  /** How many rows of the screen are above the cursor that are ours; undefined if all of them are. */
  rowsAbove: number | undefined;
}

export function resizeRows({ before, after, painted, scrolledOut, alwaysPulls = false }: ResizeOptions): Resized {
  const { rows, cursor } = painted;
  const isFull = rows.length >= before.rows;
  const pullsIfTaller = alwaysPulls || cursor.row === before.rows - 1;
  // Rows below the cursor are taken away first.
  const kept = rows.slice(0, Math.max(cursor.row + 1, after.rows));
  const heights = kept.map(({ width }, row) => (row === cursor.row ? 1 : countRows(width, after.columns)));
  const total = sum(heights);
  if (total > after.rows) return { pushed: countPushed(heights, total - after.rows), pulled: 0, rowsAbove: undefined };
  const rowsAbove = isFull ? undefined : sum(heights.slice(0, cursor.row));
  if (!isFull || !(pullsIfTaller || after.columns > before.columns)) return { pushed: 0, pulled: 0, rowsAbove };
  const growth = pullsIfTaller ? after.rows : before.rows;
  return { pushed: 0, pulled: countPulled(scrolledOut, growth - total, after.columns), rowsAbove };
}

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
