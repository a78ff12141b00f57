/** Text for vim keys: one string and offsets into it. Pure. */
import { type Atom, nextBoundary, previousBoundary } from "../clusters.ts";

export interface VimText {
  readonly text: string;
  /** An offset, between two grapheme clusters. */
  readonly cursor: number;
  /** Parts that behave as one character, such as markers of pastes. None spans lines. */
  readonly atoms: readonly Atom[];
}

/** At the beginning there is nothing to search: a negative index would be read as 0. */
export const getLineStart = ({ text }: VimText, offset: number): number =>
  offset <= 0 ? 0 : text.lastIndexOf("\n", offset - 1) + 1;

export function getLineEnd({ text }: VimText, offset: number): number {
  const end = text.indexOf("\n", offset);
  return end < 0 ? text.length : end;
}

/** The offset after the character at `offset`, at most the end of its line. */
export function getNext(document: VimText, offset: number): number {
  const start = getLineStart(document, offset);
  const line = document.text.slice(start, getLineEnd(document, offset));
  if (offset - start >= line.length) return offset;
  return start + nextBoundary(line, offset - start, getLineAtoms(document, start));
}

/** The offset of the character before `offset`, at least the start of its line. */
export function getPrevious(document: VimText, offset: number): number {
  const start = getLineStart(document, offset);
  if (offset <= start) return offset;
  const line = document.text.slice(start, getLineEnd(document, offset));
  return start + previousBoundary(line, offset - start, getLineAtoms(document, start));
}

const getLineAtoms = ({ atoms }: VimText, start: number): Atom[] =>
  atoms.map((atom) => ({ start: atom.start - start, end: atom.end - start })).filter(({ end }) => end > 0);

export function getFirstNonBlank(document: VimText, offset: number): number {
  const end = getLineEnd(document, offset);
  let index = getLineStart(document, offset);
  while (index < end && /[ \t]/.test(document.text[index]!)) index++;
  return index;
}

/** The start of a line, counted from 0; of the last line if there are fewer. */
export function getStartOfLine({ text }: VimText, line: number): number {
  let start = 0;
  for (let count = 0; count < line; count++) {
    const end = text.indexOf("\n", start);
    if (end < 0) return start;
    start = end + 1;
  }
  return start;
}

export const getLineNumber = ({ text }: VimText, offset: number): number =>
  text.slice(0, offset).split("\n").length - 1;

/** In normal mode the cursor is on a character, not behind the last one of a line. */
export function clampToLine(document: VimText, offset: number): number {
  const isBehind = offset === getLineEnd(document, offset) && offset > getLineStart(document, offset);
  return isBehind ? getPrevious(document, offset) : offset;
}

/** Moves the ends of a range out of what behaves as one character. */
export function widen({ atoms }: VimText, from: number, to: number): { from: number; to: number } {
  const first = atoms.find(({ start, end }) => start < from && from < end);
  const last = atoms.find(({ start, end }) => start < to && to < end);
  return { from: first?.start ?? from, to: last?.end ?? to };
}

type CharClass = "blank" | "word" | "other" | "atom";

/** The kind of the character at an offset. For big words all that is not blank is one kind. */
export function getClass({ text, atoms }: VimText, offset: number, isBig: boolean): CharClass {
  const code = text.charCodeAt(offset);
  const isSecondHalf = code >= 0xdc00 && code <= 0xdfff && offset > 0;
  const character = String.fromCodePoint(text.codePointAt(isSecondHalf ? offset - 1 : offset) ?? 10);
  const isAtom = atoms.some(({ start, end }) => start <= offset && offset < end);
  if (isAtom) return isBig ? "word" : "atom";
  if (/\s/u.test(character)) return "blank";
  return isBig || /[\p{L}\p{N}\p{M}_]/u.test(character) ? "word" : "other";
}
