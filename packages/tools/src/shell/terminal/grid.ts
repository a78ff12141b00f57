/** The cells of a screen, and what moves them. Positions are 0-based and must be on the screen. */
import { getCharacterWidth } from "./character-width.ts";

/** A character with what is combined with it; empty for the second half of a wide one. */
type Cell = string;
type Row = Cell[];

const blank = " ";
/** A cell keeps no more than this, whatever is combined. */
const maxCellLength = 16;

const createRow = (columns: number): Row => Array.from({ length: columns }, () => blank);

export class Grid {
  columns: number;
  #rows: Row[];

  constructor(columns: number, rows: number) {
    this.columns = columns;
    this.#rows = Array.from({ length: rows }, () => createRow(columns));
  }

  get rows(): number {
    return this.#rows.length;
  }

  put(row: number, column: number, char: string, width: 1 | 2): void {
    this.erase(row, column, column + width);
    const cells = this.#rows[row]!;
    cells[column] = char;
    if (width === 2) cells[column + 1] = "";
  }

  /** Adds a mark to the character before the position. */
  combine(row: number, column: number, mark: string): void {
    const cells = this.#rows[row]!;
    const base = cells[column] === "" ? column - 1 : column;
    if (base >= 0 && cells[base]!.length + mark.length <= maxCellLength) cells[base] += mark;
  }

  /** Blanks the cells from `start` up to `end`. The other half of a wide character that is cut goes too. */
  erase(row: number, start: number, end: number): void {
    const cells = this.#rows[row]!;
    if (start >= end) return;
    if (cells[start] === "" && start > 0) cells[start - 1] = blank;
    if (cells[end] === "") cells[end] = blank;
    cells.fill(blank, start, end);
  }

  eraseRows(start: number, end: number): void {
    for (let row = start; row < end; row++) this.erase(row, 0, this.columns);
  }

  insertCells(row: number, column: number, count: number): void {
    this.#cut(row, column);
    const cells = this.#rows[row]!;
    cells.splice(column, 0, ...createRow(Math.min(count, this.columns - column)));
    cells.length = this.columns;
    const last = cells.length - 1;
    // The second half of the last one is beyond the edge now.
    if (isWide(cells[last]!)) cells[last] = blank;
  }

  deleteCells(row: number, column: number, count: number): void {
    const deleted = Math.min(count, this.columns - column);
    this.#cut(row, column);
    if (column + deleted < this.columns) this.#cut(row, column + deleted);
    const cells = this.#rows[row]!;
    cells.splice(column, deleted);
    cells.push(...createRow(deleted));
  }

  /** Moves the rows from `top` up to `bottom`, which is excluded: up by `count`, or down if it is negative. */
  scroll(top: number, bottom: number, count: number): void {
    const distance = Math.min(Math.abs(count), bottom - top);
    const added = Array.from({ length: distance }, () => createRow(this.columns));
    if (count > 0) {
      this.#rows.splice(top, distance);
      this.#rows.splice(bottom - distance, 0, ...added);
    } else {
      this.#rows.splice(bottom - distance, distance);
      this.#rows.splice(top, 0, ...added);
    }
  }

  /** Cuts at the right and at the top, so that `kept` stays. Returns how many rows went at the top. */
  resize(columns: number, rows: number, kept: number): number {
    const removed = Math.max(0, Math.min(kept + 1 - rows, this.rows));
    this.#rows = this.#rows.slice(removed, removed + rows);
    for (const cells of this.#rows) {
      if (cells[columns] === "") cells[columns - 1] = blank;
      cells.length = Math.min(cells.length, columns);
      cells.push(...createRow(columns - cells.length));
    }
    while (this.#rows.length < rows) this.#rows.push(createRow(columns));
    this.columns = columns;
    return removed;
  }

  /** The row up to a column. */
  getText(row: number, end = this.columns): string {
    return this.#rows[row]!.slice(0, end).join("");
  }

  /** Blanks a wide character of which the position is the second half. */
  #cut(row: number, column: number): void {
    const cells = this.#rows[row]!;
    if (cells[column] !== "") return;
    cells[column] = blank;
    if (column > 0) cells[column - 1] = blank;
  }
}

const isWide = (cell: Cell): boolean =>
  cell !== "" && getCharacterWidth(String.fromCodePoint(cell.codePointAt(0)!)) === 2;
