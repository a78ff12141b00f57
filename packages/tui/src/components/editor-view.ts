/** The rows of an editor that are on the screen, and the cursor's way up and down through them. */
import { moveTo, type TextDocument } from "../editing/document.ts";
import {
  countRows,
  findCol,
  findRow,
  getColumn,
  getMaxColumn,
  getRow,
  type Layout,
  layOut,
  type Row,
} from "../editing/layout.ts";
import { findAtoms } from "../editing/paste-markers.ts";

export interface VisibleRows {
  readonly layout: Layout;
  readonly first: number;
  readonly rows: readonly Row[];
  readonly hiddenAbove: number;
  readonly hiddenBelow: number;
}

export class EditorView {
  /** The width of the text, in columns. */
  #width = 80;
  #layout: Layout | undefined;
  #firstRow = 0;
  /** The column that the cursor had before it came to a row that is too short for it, or to the start of a wide character. */
  #preferred: { column: number; snappedAtWidth?: number } | undefined;

  setWidth(width: number): void {
    this.#width = width;
  }

  getLayout(document: TextDocument): Layout {
    this.#layout = layOut(document, this.#width, this.#layout);
    return this.#layout;
  }

  /** Call it whenever the cursor moves otherwise than up and down. */
  forgetColumn(): void {
    this.#preferred = undefined;
  }

  scrollToTop(): void {
    this.#firstRow = 0;
  }

  isOnFirstRow(document: TextDocument): boolean {
    return findRow(this.getLayout(document), document.cursor) === 0;
  }

  isOnLastRow(document: TextDocument): boolean {
    const layout = this.getLayout(document);
    return findRow(layout, document.cursor) === countRows(layout) - 1;
  }

  /** Moves the cursor by rows. It comes back to its column after rows that are too short for it. */
  moveRows(document: TextDocument, count: number): TextDocument {
    const layout = this.getLayout(document);
    const rowIndex = findRow(layout, document.cursor);
    const targetIndex = Math.max(0, Math.min(rowIndex + count, countRows(layout) - 1));
    if (targetIndex === rowIndex) return document;
    const row = getRow(layout, rowIndex);
    const target = getRow(layout, targetIndex);
    const current = getColumn(layout, row, document.cursor.col);
    // After a change of the width, a cursor within a row is where it is wanted.
    const isHeldBack = current >= getMaxColumn(layout, row) || this.#preferred?.snappedAtWidth === this.#width;
    const column = isHeldBack ? (this.#preferred?.column ?? current) : current;
    const col = findCol(layout, target, column);
    const atoms = findAtoms(layout.lines[target.line] as string, document.pastes);
    const atom = atoms.find(({ start, end }) => start < col && col < end);
    const isPassed = atom && count > 0 && target.line === row.line && atom.start <= document.cursor.col;
    const moved = moveTo(document, { line: target.line, col: atom ? (isPassed ? atom.end : atom.start) : col });
    const isShort = getMaxColumn(layout, target) < column;
    const isSnapped = !isShort && (atom !== undefined || getColumn(layout, target, col) !== column);
    this.#preferred = isShort || isSnapped ? { column, ...(isSnapped && { snappedAtWidth: this.#width }) } : undefined;
    return moved;
  }

  /** At most `maxRows`, with the cursor among them. */
  getVisibleRows(document: TextDocument, maxRows: number): VisibleRows {
    const layout = this.getLayout(document);
    const count = countRows(layout);
    const cursorRow = findRow(layout, document.cursor);
    const first = Math.min(Math.max(this.#firstRow, cursorRow - maxRows + 1), cursorRow, Math.max(0, count - maxRows));
    this.#firstRow = first;
    const shown = Math.min(maxRows, count - first);
    const rows = Array.from({ length: shown }, (_, index) => getRow(layout, first + index));
    return { layout, first, rows, hiddenAbove: first, hiddenBelow: count - first - shown };
  }
}
