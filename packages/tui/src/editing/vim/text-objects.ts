/** The text objects of vim: words, and what is between quotes or brackets. Pure. */
import { getClass, getLineEnd, getLineStart, type VimText } from "./text.ts";

export interface Range {
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
}

const brackets: Readonly<Record<string, readonly [string, string]>> = {
  "(": ["(", ")"],
  ")": ["(", ")"],
  b: ["(", ")"],
  "[": ["[", "]"],
  "]": ["[", "]"],
  "{": ["{", "}"],
  "}": ["{", "}"],
  B: ["{", "}"],
  "<": ["<", ">"],
  ">": ["<", ">"],
};
const quotes: readonly string[] = ['"', "'", "`"];

export const isObjectKey = (key: string): boolean =>
  key === "w" || key === "W" || quotes.includes(key) || Object.hasOwn(brackets, key);

/** `isAround`: with the quotes, the brackets, or the blanks after a word. Undefined if the cursor is in none. */
export function findObject(document: VimText, key: string, isAround: boolean): Range | undefined {
  if (key === "w" || key === "W") return findWord(document, key === "W", isAround);
  if (quotes.includes(key)) return findQuoted(document, key, isAround);
  const pair = brackets[key];
  return pair && findBracketed(document, pair, isAround);
}

function findWord(document: VimText, isBig: boolean, isAround: boolean): Range | undefined {
  const { cursor } = document;
  const [start, end] = [getLineStart(document, cursor), getLineEnd(document, cursor)];
  if (start === end) return undefined;
  const at = Math.min(cursor, end - 1);
  const grow = (offset: number, step: 1 | -1): number => {
    const kind = getClass(document, offset, isBig);
    let edge = offset;
    while (edge + step >= start && edge + step < end && getClass(document, edge + step, isBig) === kind) edge += step;
    return edge;
  };
  const [from, to] = [grow(at, -1), grow(at, 1) + 1];
  if (!isAround) return { from, to };
  const isBlank = getClass(document, at, isBig) === "blank";
  if (isBlank) return { from, to: to < end ? grow(to, 1) + 1 : to };
  if (to < end && getClass(document, to, isBig) === "blank") return { from, to: grow(to, 1) + 1 };
  const hasBlankBefore = from > start && getClass(document, from - 1, isBig) === "blank";
  return { from: hasBlankBefore ? grow(from - 1, -1) : from, to };
}

/** Quotes are paired from the start of the line; a backslash takes the meaning from the one after it. */
function findQuoted(document: VimText, quote: string, isAround: boolean): Range | undefined {
  const { cursor, text } = document;
  const end = getLineEnd(document, cursor);
  const marks: number[] = [];
  for (let index = getLineStart(document, cursor); index < end; index++) {
    if (text[index] === "\\") index++;
    else if (text[index] === quote) marks.push(index);
  }
  for (let index = 0; index + 1 < marks.length; index += 2) {
    const [open, close] = [marks[index]!, marks[index + 1]!];
    if (cursor <= close) return isAround ? { from: open, to: close + 1 } : { from: open + 1, to: close };
  }
  return undefined;
}

function findBracketed(
  { text, cursor }: VimText,
  [open, close]: readonly [string, string],
  isAround: boolean,
): Range | undefined {
  const from = findOpen(text, cursor, [open, close]);
  if (from === undefined) return undefined;
  let depth = 0;
  for (let index = from; index < text.length; index++) {
    if (text[index] === open) depth++;
    else if (text[index] === close && --depth === 0)
      return isAround ? { from, to: index + 1 } : { from: from + 1, to: index };
  }
  return undefined;
}

function findOpen(text: string, cursor: number, [open, close]: readonly [string, string]): number | undefined {
  let depth = 0;
  for (let index = text[cursor] === close ? cursor - 1 : cursor; index >= 0; index--) {
    if (text[index] === close) depth++;
    else if (text[index] === open && depth-- === 0) return index;
  }
  return undefined;
}
