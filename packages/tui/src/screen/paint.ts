/** From what is on the screen to what should be there, with few bytes. Pure. */
import { findStaleImages, hasKittyImage } from "./kitty-images.ts";
import type { Line } from "./line.ts";

/** The part of the screen that is ours: its last rows, or all of them. */
export interface Painted {
  /** From top to bottom. */
  readonly rows: readonly Line[];
  /** Where the cursor is; the row counts from 0, in `rows`. */
  readonly cursor: CursorPosition;
}

export interface CursorPosition {
  readonly row: number;
  readonly column: number;
}

export const nothingPainted: Painted = { rows: [], cursor: { row: 0, column: 0 } };

/** Rows of which nothing is known: each is written, and erased behind what is written, so that no frame is blank. */
export function createUnknownRows(columns: number, count: number): Line[] {
  const unknown: Line = { text: "\0", width: columns, cursor: undefined };
  return Array.from({ length: count }, () => unknown);
}

interface PaintOptions {
  before: Painted;
  /**
   * The first goes to the first of our rows. If there are more than `height`, the first ones leave the screen at its top, into
   * the scrollback.
   */
  lines: readonly Line[];
  /** How many rows the screen has. */
  height: number;
  /** The row is an index in `lines`. Default: the end of the last line. */
  cursor?: CursorPosition | undefined;
}

/** `bytes` is empty if nothing changed. */
export function paint(options: PaintOptions): { bytes: string; after: Painted } {
  const { before, lines, height } = options;
  const pen = new Pen(before);
  const scrolled = Math.max(0, lines.length - height);
  const stale = findStaleImages(before.rows, lines);
  pen.bytes += stale.bytes;
  const images: [row: number, line: Line][] = [];
  for (let row = 0; row < lines.length; row++) {
    const line = lines[row] as Line;
    // Among rows that are there, images come last: some terminals take them away where a row is erased.
    const isImage = row >= scrolled && row < before.rows.length && hasKittyImage(line);
    if (!isImage) pen.write(row, line);
    else if (stale.rows.has(row)) images.push([row, line]);
    else if (before.rows[row]?.text !== line.text) {
      pen.write(row, blank);
      images.push([row, line]);
    }
  }
  if (lines.length < before.rows.length) pen.eraseFrom(lines.length);
  for (const [row, line] of images) pen.place(row, line);
  const last = Math.max(0, lines.length - 1);
  const cursor = options.cursor ?? { row: last, column: lines[last]?.width ?? 0 };
  pen.moveTo(cursor);
  const after = { rows: lines.slice(scrolled), cursor: { row: cursor.row - scrolled, column: cursor.column } };
  return { bytes: pen.bytes, after };
}

const plain = /^[\x20-\x7e]*$/;
const blank: Line = { text: "", width: 0, cursor: undefined };

/** Writes relative to where the cursor is, since nobody knows in which row of the screen we began. */
class Pen {
  bytes = "";
  readonly #rows: readonly Line[];
  #row: number;
  /** The last row that is there. */
  #bottom: number;
  /** Undefined after a line was written: at the right margin terminals differ. */
  #column: number | undefined;

  constructor({ rows, cursor }: Painted) {
    this.#rows = rows;
    this.#row = cursor.row;
    this.#bottom = Math.max(rows.length - 1, cursor.row);
    this.#column = cursor.column;
  }

  write(row: number, line: Line): void {
    const before = this.#rows[row];
    if (before?.text === line.text) return;
    // Where a line only grew at its end, the rest is enough.
    const isLonger = before !== undefined && plain.test(before.text) && line.text.startsWith(before.text);
    const start = isLonger && plain.test(line.text) ? before.text.length : 0;
    this.#goToRow(row);
    if (start > 0) this.#goToColumn(start);
    else if (this.#column !== 0) this.bytes += "\r";
    this.bytes += line.text.slice(start);
    if (before !== undefined && before.width > line.width) this.bytes += "\x1b[K";
    this.#column = undefined;
  }

  /** Without a look at what is there. */
  place(row: number, line: Line): void {
    this.#goToRow(row);
    this.#goToColumn(0);
    this.bytes += line.text;
    this.#column = undefined;
  }

  /** Down to the end of the screen. */
  eraseFrom(row: number): void {
    this.#goToRow(row);
    this.#goToColumn(0);
    this.bytes += "\x1b[J";
  }

  moveTo({ row, column }: CursorPosition): void {
    this.#goToRow(row);
    this.#goToColumn(column);
  }

  #goToRow(row: number): void {
    const bottom = this.#bottom;
    if (row < this.#row) this.bytes += `\x1b[${this.#row - row}A`;
    else if (row > this.#row) {
      const down = Math.min(row, bottom) - this.#row;
      if (down > 0) this.bytes += `\x1b[${down}B`;
      // Rows that are not there yet are made by line breaks; at the bottom of the screen these scroll.
      if (row > bottom) {
        this.bytes += "\r\n".repeat(row - bottom);
        this.#column = 0;
      }
    }
    this.#row = row;
    this.#bottom = Math.max(bottom, row);
  }

  #goToColumn(column: number): void {
    if (column === this.#column) return;
    this.bytes += column === 0 ? "\r" : `\x1b[${column + 1}G`;
    this.#column = column;
  }
}
