/** Tables: those with data become tables of Markdown, those that only place things become blocks. */
import type { Frame, FrameContent } from "./frame.ts";

interface Cell {
  readonly content: FrameContent;
  readonly columns: number;
  readonly rows: number;
}

/** Cells over several columns or rows are followed by at most this many empty ones. */
const maxSpan = 50;
/** Further empty cells for each cell of a table, and for the table: spans of many cells would add up to hundreds of megabytes. */
const maxEmptyPerCell = 4;
const maxEmpty = 50;
/** Cells with more text than this on average are not data. */
const maxDataLength = 400;

export class Table {
  readonly #rows: Cell[][] = [];
  /** Set by what is in it: another table, or what it says of itself. */
  isLayout: boolean;

  constructor(role: string) {
    this.isLayout = role === "presentation" || role === "none";
  }

  beginRow(): void {
    this.#rows.push([]);
  }

  addCell(cell: Cell): void {
    if (this.#rows.length === 0) this.beginRow();
    this.#rows.at(-1)!.push(cell);
  }

  writeTo(frame: Frame): void {
    const rows = this.#rows.filter((cells) => cells.some(({ content }) => content.blocks.length > 0));
    if (rows.length === 0) return;
    const shape = measure(rows);
    if (this.isLayout || isLayout(shape))
      for (const row of rows) for (const { content } of row) frame.addContent(content);
    else frame.addBlock(formatRows(rows), shape.length);
  }
}

interface TableShape {
  columns: number;
  cells: number;
  length: number;
  hasStructure: boolean;
}

function measure(rows: readonly (readonly Cell[])[]): TableShape {
  const shape = { columns: 0, cells: 0, length: 0, hasStructure: false };
  for (const row of rows) {
    shape.columns = Math.max(shape.columns, row.length);
    shape.cells += row.length;
    for (const { content } of row) {
      for (const { length } of content.blocks) shape.length += length;
      shape.hasStructure ||= content.hasStructure;
    }
  }
  return shape;
}

const isLayout = ({ columns, cells, length, hasStructure }: TableShape): boolean =>
  columns <= 1 || (hasStructure && columns <= 3) || (cells <= 12 && length > maxDataLength * cells);

function formatRows(rows: readonly (readonly Cell[])[]): string {
  const lines: string[] = [];
  let emptyLeft = rows.reduce((sum, { length }) => sum + length * maxEmptyPerCell, maxEmpty);
  /** For each column, in how many more rows a cell above covers it. */
  let covered: number[] = [];
  for (const [index, row] of rows.entries()) {
    const texts: string[] = [];
    const next: number[] = [];
    const skipCovered = (): void => {
      while ((covered[texts.length] ?? 0) > 0 && emptyLeft > 0) {
        emptyLeft--;
        next[texts.length] = covered[texts.length]! - 1;
        texts.push("");
      }
    };
    for (const cell of row) {
      skipCovered();
      for (let column = 0; column < cell.columns && (column === 0 || emptyLeft > 0); column++) {
        if (cell.rows > 1) next[texts.length] = cell.rows - 1;
        if (column > 0) emptyLeft--;
        texts.push(column === 0 ? formatCell(cell.content) : "");
      }
    }
    skipCovered();
    covered = next;
    lines.push(`| ${texts.join(" | ")} |`);
    if (index === 0) lines.push(`|${" --- |".repeat(texts.length)}`);
  }
  return lines.join("\n");
}

function formatCell({ blocks }: FrameContent): string {
  const [first] = blocks;
  if (!first) return "";
  const text =
    blocks.length === 1
      ? first.text
      : blocks.map((block) => block.text.replace(/^```[^\n]*\n([^\n]*)\n```$/, "`$1`")).join("\n");
  const escaped = text.includes("|") ? text.replaceAll("|", String.raw`\|`) : text;
  return escaped.includes("\n") ? escaped.replaceAll(/\s*\n\s*/g, "<br>") : escaped;
}

/** Reads `colspan` and `rowspan`. */
export function parseSpan(value: string | undefined): number {
  const span = Number.parseInt(value ?? "1", 10);
  return Number.isNaN(span) ? 1 : Math.max(1, Math.min(span, maxSpan));
}
