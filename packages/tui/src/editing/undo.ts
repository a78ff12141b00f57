/** Undo and redo. What is kept is what changed, not the documents. */
import type { Position, TextDocument } from "./document.ts";
import type { Pastes } from "./paste-markers.ts";
import { splice } from "./splice.ts";

interface Side {
  readonly lines: readonly string[];
  readonly cursor: Position;
  readonly pastes: Pastes;
}

/** From `line` on, the lines of one side stand in the place of those of the other. */
interface Change {
  readonly line: number;
  readonly before: Side;
  readonly after: Side;
}

const maxChanges = 1000;

export class UndoHistory {
  #undo: Change[] = [];
  #redo: Change[] = [];
  /** The document before the edits that will be undone together with those to come. */
  #open: TextDocument | undefined;

  /** Call it with the document before an edit that shall be undone apart from those before. */
  begin(document: TextDocument): void {
    this.#close(document);
    this.#open = document;
    this.#redo = [];
  }

  /** The document before the last step; undefined if there is none. */
  undo(document: TextDocument): TextDocument | undefined {
    this.#close(document);
    const change = this.#undo.pop();
    if (!change) return undefined;
    this.#redo.push(change);
    return swap(document, change.line, change.after, change.before);
  }

  redo(document: TextDocument): TextDocument | undefined {
    this.#close(document);
    const change = this.#redo.pop();
    if (!change) return undefined;
    this.#undo.push(change);
    return swap(document, change.line, change.before, change.after);
  }

  clear(): void {
    this.#undo = [];
    this.#redo = [];
    this.#open = undefined;
  }

  #close(document: TextDocument): void {
    const change = this.#open && compare(this.#open, document);
    this.#open = undefined;
    if (!change) return;
    this.#undo.push(change);
    if (this.#undo.length > maxChanges) this.#undo.shift();
  }
}

function compare(before: TextDocument, after: TextDocument): Change | undefined {
  const { start, end } = findChangedLines(before.lines, after.lines);
  if (start + end === before.lines.length && before.lines.length === after.lines.length) return undefined;
  const toSide = ({ lines, cursor, pastes }: TextDocument): Side => ({
    lines: lines.slice(start, lines.length - end),
    cursor,
    pastes,
  });
  return { line: start, before: toSide(before), after: toSide(after) };
}

/** How many lines are the same at the start and, apart from those, at the end. */
export function findChangedLines(before: readonly string[], after: readonly string[]): { start: number; end: number } {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start++;
  let end = 0;
  while (end < shorter - start && before[before.length - 1 - end] === after[after.length - 1 - end]) end++;
  return { start, end };
}

function swap({ lines }: TextDocument, line: number, from: Side, { lines: inserted, cursor, pastes }: Side) {
  return { lines: splice(lines, line, from.lines.length, inserted), cursor, pastes };
}
