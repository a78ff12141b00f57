/** Positions of servers and offsets in a text. Pure. */
import { isRecord } from "@tau/ai/internal";

/** How a server counts the characters of a line. */
export type PositionEncoding = "utf-8" | "utf-16" | "utf-32";

/** From 0, as servers count. `character` is in the units of the server's encoding. */
export interface Position {
  line: number;
  character: number;
}

export interface Range {
  start: Position;
  end: Position;
}

const isIndex = (value: unknown): value is number =>
  typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= 2 ** 31;

function parsePosition(value: unknown): Position | undefined {
  if (!isRecord(value)) return undefined;
  const { line, character } = value;
  return isIndex(line) && isIndex(character) ? { line, character } : undefined;
}

/** Undefined for a range that ends before it starts. */
export function parseRange(value: unknown): Range | undefined {
  if (!isRecord(value)) return undefined;
  const start = parsePosition(value["start"]);
  const end = parsePosition(value["end"]);
  if (!start || !end) return undefined;
  const isReversed = end.line < start.line || (end.line === start.line && end.character < start.character);
  return isReversed ? undefined : { start, end };
}

/** Where each line begins, in UTF-16 units. Line endings are `\n`, `\r\n` and `\r`. */
function findLineStarts(text: string): number[] {
  const starts = [0];
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === 10 || (code === 13 && text.charCodeAt(index + 1) !== 10)) starts.push(index + 1);
  }
  return starts;
}

/** The lines of a text, without their endings. */
export class TextLines {
  readonly text: string;
  readonly #starts: readonly number[];

  constructor(text: string) {
    this.text = text;
    this.#starts = findLineStarts(text);
  }

  get count(): number {
    return this.#starts.length;
  }

  /** The text of a line, from 0; undefined if there is none. */
  get(line: number): string | undefined {
    const start = this.#starts[line];
    if (start === undefined) return undefined;
    return this.text.slice(start, this.#starts[line + 1] ?? this.text.length).replace(/(?:\r\n|\r|\n)$/, "");
  }

  /**
   * The offset of a position; undefined if the text has no such line. A position behind the end of its line is at its end, as the
   * protocol says; the line after the last one is the end of the text, since servers use it to replace everything.
   */
  toOffset({ line, character }: Position, encoding: PositionEncoding): number | undefined {
    if (line === this.count && character === 0) return this.text.length;
    const text = this.get(line);
    return text === undefined ? undefined : this.#starts[line]! + toColumn(text, character, encoding);
  }

  /** Whether a position is between two characters: a server may count in other units than it says. */
  isBoundary({ line, character }: Position, encoding: PositionEncoding): boolean {
    const text = this.get(line) ?? "";
    const column = toColumn(text, character, encoding);
    if (/^[\ud800-\udbff][\udc00-\udfff]/.test(text.slice(column - 1, column + 1))) return false;
    const own = toCharacter(text, column, encoding);
    return own === character || (column === text.length && own < character);
  }
}

/** The column in UTF-16 units, from 0, of a position in a line. */
export function toColumn(line: string, character: number, encoding: PositionEncoding): number {
  if (encoding === "utf-16") return Math.min(character, line.length);
  let [column, units] = [0, 0];
  for (const point of line) {
    if (units >= character) break;
    units += encoding === "utf-32" ? 1 : Buffer.byteLength(point);
    column += point.length;
  }
  return column;
}

/** The position of a column in UTF-16 units, from 0, in the units of a server. */
export function toCharacter(line: string, column: number, encoding: PositionEncoding): number {
  if (encoding === "utf-16") return column;
  const before = line.slice(0, column);
  return encoding === "utf-32" ? [...before].length : Buffer.byteLength(before);
}
