/** Text with a cursor, as a value: every edit gives a new one, which shares the lines that did not change. */
import { nextBoundary, previousBoundary, snapToBoundary } from "./clusters.ts";
import { findAtoms, type Pastes } from "./paste-markers.ts";
import { splice } from "./splice.ts";

export interface Position {
  readonly line: number;
  /** In code units; always between two grapheme clusters. */
  readonly col: number;
}

export interface TextDocument {
  /** At least one. */
  readonly lines: readonly string[];
  readonly cursor: Position;
  /** The pastes that markers in the text stand for. */
  readonly pastes: Pastes;
}

const noPastes: Pastes = new Map();

/** The cursor is at the end. */
export function createDocument(text = "", pastes: Pastes = noPastes): TextDocument {
  const lines = text.split("\n");
  const line = lines.length - 1;
  return { lines, cursor: { line, col: (lines[line] as string).length }, pastes };
}

export const getText = ({ lines }: TextDocument): string => lines.join("\n");

export const getLine = ({ lines }: TextDocument, line: number): string => lines[line] ?? "";

/** The line of the cursor, the cursor in it, and what in it is one unit. */
export function getCursorLine(document: TextDocument) {
  const { line, col } = document.cursor;
  const text = getLine(document, line);
  return { text, line, col, atoms: findAtoms(text, document.pastes) };
}

/** A position that is not in the text, or within a cluster, becomes the nearest after it that is. */
export function moveTo(document: TextDocument, position: Position): TextDocument {
  const line = Math.max(0, Math.min(position.line, document.lines.length - 1));
  const text = getLine(document, line);
  const col = snapToBoundary(text, position.col, findAtoms(text, document.pastes));
  return { ...document, cursor: { line, col } };
}

/** Puts `text` in the place of a range; the cursor goes behind it. */
export function replaceRange(document: TextDocument, from: Position, to: Position, text: string): TextDocument {
  const inserted = text.split("\n");
  const lastLine = from.line + inserted.length - 1;
  const lastCol = (inserted.at(-1) as string).length + (inserted.length === 1 ? from.col : 0);
  inserted[0] = getLine(document, from.line).slice(0, from.col) + inserted[0];
  inserted[inserted.length - 1] += getLine(document, to.line).slice(to.col);
  const lines = splice(document.lines, from.line, to.line - from.line + 1, inserted);
  return moveTo({ ...document, lines }, { line: lastLine, col: lastCol });
}

export const insertText = (document: TextDocument, text: string): TextDocument =>
  replaceRange(document, document.cursor, document.cursor, text);

export function getRange({ lines }: TextDocument, from: Position, to: Position): string {
  if (from.line === to.line) return (lines[from.line] ?? "").slice(from.col, to.col);
  const first = (lines[from.line] ?? "").slice(from.col);
  return [first, ...lines.slice(from.line + 1, to.line), (lines[to.line] ?? "").slice(0, to.col)].join("\n");
}

export const isBefore = (a: Position, b: Position): boolean => a.line < b.line || (a.line === b.line && a.col < b.col);

export const isSame = (a: Position, b: Position): boolean => a.line === b.line && a.col === b.col;

/** Finds the position one cluster back; from the start of a line the end of the one before. */
export function findLeft(document: TextDocument): Position {
  const { text, line, col, atoms } = getCursorLine(document);
  if (col > 0) return { line, col: previousBoundary(text, col, atoms) };
  return line === 0 ? document.cursor : findLineEnd(document, line - 1);
}

export function findRight(document: TextDocument): Position {
  const { text, line, col, atoms } = getCursorLine(document);
  if (col < text.length) return { line, col: nextBoundary(text, col, atoms) };
  return line === document.lines.length - 1 ? document.cursor : { line: line + 1, col: 0 };
}

export const findLineStart = ({ cursor }: TextDocument): Position => ({ line: cursor.line, col: 0 });

export const findLineEnd = (document: TextDocument, line: number = document.cursor.line): Position => ({
  line,
  col: getLine(document, line).length,
});
