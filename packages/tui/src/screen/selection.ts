/** Text that is selected with the mouse: from one place to another, by characters, words or lines. Pure. */
import { toCells, visibleWidth } from "../text/cells.ts";
import { stripTerminalSequences } from "../text/escape.ts";
import { sliceByColumn } from "../text/slice.ts";

/** Both from 0. */
export interface TextPosition {
  line: number;
  column: number;
}

/** The last position belongs to it. */
export interface TextRange {
  start: TextPosition;
  end: TextPosition;
}

export type Granularity = "character" | "word" | "line";

const wordCharacter = /^[\p{L}\p{M}\p{N}_'./~-]/u;
const blank = /^\s/;

/** Finds what a click at a position selects in a line: the character there, the word or the blanks, or the line. */
export function expandPosition(text: string, position: TextPosition, granularity: Granularity): TextRange {
  const { line, column } = position;
  const plain = stripTerminalSequences(text);
  if (granularity === "line") {
    return { start: { line, column: 0 }, end: { line, column: Math.max(0, visibleWidth(plain.trimEnd()) - 1) } };
  }
  let start = 0;
  let end = 0;
  let kind: RegExp | undefined;
  for (const cell of toCells(plain)) {
    const nextKind = granularity === "word" ? [wordCharacter, blank].find((test) => test.test(cell.text)) : undefined;
    if (nextKind === undefined || nextKind !== kind) {
      if (column < end) break;
      start = end;
    }
    kind = nextKind;
    end += cell.width;
  }
  if (column >= end) return { start: position, end: position };
  return { start: { line, column: start }, end: { line, column: end - 1 } };
}

/** From the earlier to the later of two ranges, whichever comes first. */
export function joinRanges(a: TextRange, b: TextRange): TextRange {
  return {
    start: isBefore(a.start, b.start) ? a.start : b.start,
    end: isBefore(a.end, b.end) ? b.end : a.end,
  };
}

/** The first column and the one after the last, which is Infinity where a line is selected up to its end. */
export function getSelectedColumns({ start, end }: TextRange, line: number): [number, number] | undefined {
  if (line < start.line || line > end.line) return undefined;
  return [line === start.line ? start.column : 0, line === end.line ? end.column + 1 : Infinity];
}

/** The text without styles, and without the blanks at ends of lines. `lines` are those of the range. */
export function getSelectedText(range: TextRange, lines: readonly string[]): string {
  const texts = lines.map((text, index) => {
    const [from, to] = getSelectedColumns(range, range.start.line + index) ?? [0, 0];
    const plain = stripTerminalSequences(text);
    return sliceByColumn(plain, from, Math.min(to, visibleWidth(plain)) - from).trimEnd();
  });
  return texts.join("\n");
}

const isBefore = (a: TextPosition, b: TextPosition) => a.line < b.line || (a.line === b.line && a.column < b.column);
