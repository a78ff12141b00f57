/** A drawing made of cells: texts, and strokes, which join where they belong together. */
import { toCells } from "../../../text/cells.ts";

/** How the two parts of a drawing look. */
export interface DrawingStyles {
  readonly text: (text: string) => string;
  readonly line: (text: string) => string;
}

/** The sides of a cell that a stroke touches, as bits. */
export const sides = { up: 1, right: 2, down: 4, left: 8 } as const;
export const vertical = sides.up | sides.down;
export const horizontal = sides.left | sides.right;

/** The character for each set of sides. One side alone is drawn as a whole line. */
const lineCharacters = [..." │─╰││╭├─╯─┴╮┤┬┼"];
const dottedCharacters: ReadonlyMap<string, string> = new Map([
  ["│", "┆"],
  ["─", "┄"],
]);

interface Stroke {
  readonly bits: number;
  /** Strokes that share a name here are joined; others cross. */
  readonly ends: readonly string[];
  readonly isDotted: boolean;
}

interface CanvasCell {
  /** Empty for the second column of a wide character. */
  text?: string;
  /** Whether the text is part of a line, such as the head of an arrow. */
  isLine?: boolean;
  strokes: Stroke[];
}

interface Rectangle {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export class Canvas {
  readonly #rows: CanvasCell[][] = [];

  /** Writes one line of text. What is below it is not drawn. */
  write(x: number, y: number, text: string): void {
    let column = x;
    for (const { text: cluster, width } of toCells(text)) {
      if (width === 0) continue;
      this.#getCell(column, y).text = cluster;
      for (let rest = 1; rest < width; rest++) this.#getCell(column + rest, y).text = "";
      column += width;
    }
  }

  /** Puts a character of one column where a line ends or turns. */
  mark(x: number, y: number, character: string): void {
    const cell = this.#getCell(x, y);
    cell.text = character;
    cell.isLine = true;
  }

  stroke(x: number, y: number, bits: number, ends: readonly string[], isDotted = false): void {
    this.#getCell(x, y).strokes.push({ bits, ends, isDotted });
  }

  /** Draws a border. `corners` has four characters, row by row; strokes that end there are joined by the name `end`. */
  box({ x, y, width, height }: Rectangle, corners: string, end: string): void {
    const right = x + width - 1;
    const bottom = y + height - 1;
    for (let column = x + 1; column < right; column++) {
      for (const row of [y, bottom]) this.stroke(column, row, horizontal, [end]);
    }
    for (let row = y + 1; row < bottom; row++) {
      for (const column of [x, right]) this.stroke(column, row, vertical, [end]);
    }
    const [topLeft = "", topRight = "", bottomLeft = "", bottomRight = ""] = corners;
    this.mark(x, y, topLeft);
    this.mark(right, y, topRight);
    this.mark(x, bottom, bottomLeft);
    this.mark(right, bottom, bottomRight);
  }

  toLines(styles: DrawingStyles): string[] {
    return Array.from(this.#rows, (row) => formatRow(row ?? [], styles));
  }

  #getCell(x: number, y: number): CanvasCell {
    const row = (this.#rows[y] ??= []);
    return (row[x] ??= { strokes: [] });
  }
}

function formatRow(row: readonly CanvasCell[], styles: DrawingStyles): string {
  let line = "";
  let run = "";
  let isLineRun = false;
  const end = () => {
    line += run.trim() === "" ? run : styles[isLineRun ? "line" : "text"](run);
    run = "";
  };
  // A row has holes where nothing was drawn.
  for (const cell of Array.from(row)) {
    const character = cell?.text ?? getLineCharacter(cell?.strokes ?? []);
    const isLine = cell?.text === undefined || cell.isLine === true;
    if (isLine !== isLineRun && character !== " ") {
      end();
      isLineRun = isLine;
    }
    run += character;
  }
  run = run.trimEnd();
  end();
  return line;
}

/** Strokes that do not belong together cross: the vertical one is in front. */
function getLineCharacter(strokes: readonly Stroke[]): string {
  const first = strokes.find(({ bits }) => (bits & vertical) !== 0) ?? strokes[0];
  if (!first) return " ";
  const ends = new Set(first.ends);
  const joined = new Set([first]);
  for (let size = 0; size < joined.size;) {
    size = joined.size;
    for (const stroke of strokes) {
      if (!stroke.ends.some((end) => ends.has(end))) continue;
      joined.add(stroke);
      for (const end of stroke.ends) ends.add(end);
    }
  }
  const all = [...joined];
  const bits = all.reduce((sum, stroke) => sum | stroke.bits, 0);
  const character = lineCharacters[bits] ?? " ";
  return (all.every(({ isDotted }) => isDotted) && dottedCharacters.get(character)) || character;
}
