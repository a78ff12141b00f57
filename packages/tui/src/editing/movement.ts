/** Where keys move the cursor to, and up to where they delete. */
import {
  findLeft,
  findLineEnd,
  findLineStart,
  findRight,
  getCursorLine,
  getLine,
  type Position,
  type TextDocument,
} from "./document.ts";
import { findAtoms } from "./paste-markers.ts";
import { findWordEnd, findWordStart } from "./words.ts";

/** At the start of a line, the end of the line before. */
export function findWordLeft(document: TextDocument): Position {
  const { text, line, col, atoms } = getCursorLine(document);
  return col === 0 ? findLeft(document) : { line, col: findWordStart(text, col, atoms) };
}

export function findWordRight(document: TextDocument): Position {
  const { text, line, col, atoms } = getCursorLine(document);
  return col === text.length ? findRight(document) : { line, col: findWordEnd(text, col, atoms) };
}

/** The start of the line; there, the line break before it. */
export const findKillStart = (document: TextDocument): Position =>
  document.cursor.col === 0 ? findLeft(document) : findLineStart(document);

/** The end of the line; there, the line break after it. */
export function findKillEnd(document: TextDocument): Position {
  const end = findLineEnd(document);
  return document.cursor.col === end.col ? findRight(document) : end;
}

/** The next place of a text in a direction, over lines; not the one at the cursor, and none within an atom. */
export function findText(document: TextDocument, text: string, direction: "forward" | "backward"): Position {
  const { cursor, lines, pastes } = document;
  const step = direction === "forward" ? 1 : -1;
  for (let line = cursor.line; line >= 0 && line < lines.length; line += step) {
    const content = getLine(document, line);
    const atoms = findAtoms(content, pastes);
    const start = line === cursor.line ? cursor.col + step : step === 1 ? 0 : content.length;
    for (let col = search(content, text, start, step); col !== -1; col = search(content, text, col + step, step)) {
      if (!atoms.some((atom) => atom.start <= col && col < atom.end)) return { line, col };
    }
  }
  return cursor;
}

function search(content: string, text: string, start: number, step: 1 | -1): number {
  if (step === 1) return content.indexOf(text, start);
  return start < 0 ? -1 : content.lastIndexOf(text, start);
}
