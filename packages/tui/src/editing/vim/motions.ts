/** Where the motions of vim lead. Pure. */
import {
  clampToLine,
  getClass,
  getFirstNonBlank,
  getLineEnd,
  getLineNumber,
  getLineStart,
  getNext,
  getPrevious,
  getStartOfLine,
  type VimText,
} from "./text.ts";

export interface Find {
  readonly key: "f" | "F" | "t" | "T";
  readonly character: string;
}

/** `key` is that of vim, with `gg` for two; `character` is what is looked for. */
export interface Motion {
  readonly key: string;
  readonly character?: string;
}

interface MotionParts {
  /** Undefined: none was typed. */
  readonly count: number | undefined;
  /** The last search in a line. */
  readonly find: Find | undefined;
  /** Whether an operator uses the motion. */
  readonly isForOperator: boolean;
}

/** `lines`: an operator takes whole lines. `inclusive`: it takes the character at the target too. */
interface Target {
  readonly offset: number;
  readonly kind: "exclusive" | "inclusive" | "lines";
}

/** Undefined if the motion leads nowhere. */
export function findTarget(document: VimText, motion: Motion, parts: MotionParts): Target | undefined {
  const { count = 1, find, isForOperator } = parts;
  const { cursor } = document;
  switch (motion.key) {
    case "h":
      return { offset: repeat(count, cursor, (offset) => getPrevious(document, offset)), kind: "exclusive" };
    case "l":
      return { offset: repeat(count, cursor, (offset) => getNext(document, offset)), kind: "exclusive" };
    case "j":
    case "k":
      return findLine(document, motion.key === "j" ? count : -count);
    case "w":
    case "W":
      return findWords(document, motion.key === "W", { count, isForOperator });
    case "b":
    case "B":
      return {
        offset: repeat(count, cursor, (offset) => findBack(document, offset, motion.key === "B")),
        kind: "exclusive",
      };
    case "e":
    case "E":
      return {
        offset: repeat(count, cursor, (offset) => findWordEnd(document, offset, motion.key === "E")),
        kind: "inclusive",
      };
    case "0":
      return { offset: getLineStart(document, cursor), kind: "exclusive" };
    case "^":
      return { offset: getFirstNonBlank(document, cursor), kind: "exclusive" };
    case "$": {
      const start = getStartOfLine(document, getLineNumber(document, cursor) + count - 1);
      return { offset: clampToLine(document, getLineEnd(document, start)), kind: "inclusive" };
    }
    case "gg":
    case "G": {
      const last = motion.key === "gg" ? 1 : Number.MAX_SAFE_INTEGER;
      const line = Math.min(parts.count ?? last, document.text.split("\n").length) - 1;
      return { offset: getFirstNonBlank(document, getStartOfLine(document, line)), kind: "lines" };
    }
    case ";":
    case ",":
      return find && findCharacter(document, motion.key === ";" ? find : reverse(find), { count, isRepeated: true });
    default:
      return isFindKey(motion.key) && motion.character !== undefined
        ? findCharacter(document, { key: motion.key, character: motion.character }, { count, isRepeated: false })
        : undefined;
  }
}

export const isFindKey = (key: string): key is Find["key"] => ["f", "F", "t", "T"].includes(key);

const reversed = { f: "F", F: "f", t: "T", T: "t" } as const;
const reverse = ({ key, character }: Find): Find => ({ key: reversed[key], character });

/** Stops where a step leads nowhere. */
function repeat(count: number, start: number, step: (offset: number) => number): number {
  let offset = start;
  for (let done = 0; done < count; done++) {
    const next = step(offset);
    if (next === offset) break;
    offset = next;
  }
  return offset;
}

function findLine(document: VimText, by: number): Target | undefined {
  const { cursor, text } = document;
  const line = getLineNumber(document, cursor);
  const last = text.split("\n").length - 1;
  const target = Math.max(0, Math.min(line + by, last));
  if (target === line) return undefined;
  const start = getStartOfLine(document, target);
  const end = getLineEnd(document, start);
  const col = cursor - getLineStart(document, cursor);
  // A column inside of a character becomes its beginning.
  const offset = col >= end - start ? end : getPrevious(document, getNext(document, start + col));
  return { offset: col === 0 ? start : offset, kind: "lines" };
}

function findWords(
  document: VimText,
  isBig: boolean,
  { count, isForOperator }: Pick<MotionParts, "isForOperator"> & { count: number },
): Target {
  const offset = repeat(count, document.cursor, (from) => findWordStart(document, from, isBig));
  const before = repeat(count - 1, document.cursor, (from) => findWordStart(document, from, isBig));
  // The last word of a line ends with it.
  const end = getLineEnd(document, before);
  return { offset: isForOperator && offset > end && before < end ? end : offset, kind: "exclusive" };
}

const isEmptyLine = ({ text }: VimText, offset: number): boolean =>
  text[offset] === "\n" && (offset === 0 || text[offset - 1] === "\n");

function findWordStart(document: VimText, from: number, isBig: boolean): number {
  const { length } = document.text;
  let offset = from;
  const first = offset < length ? getClass(document, offset, isBig) : "blank";
  if (first !== "blank") while (offset < length && getClass(document, offset, isBig) === first) offset++;
  else if (offset < length) offset++;
  while (offset < length && getClass(document, offset, isBig) === "blank" && !isEmptyLine(document, offset)) offset++;
  return offset;
}

function findBack(document: VimText, from: number, isBig: boolean): number {
  let offset = from - 1;
  while (offset > 0 && getClass(document, offset, isBig) === "blank" && !isEmptyLine(document, offset)) offset--;
  if (offset <= 0) return 0;
  const kind = getClass(document, offset, isBig);
  if (kind === "blank") return offset;
  while (offset > 0 && getClass(document, offset - 1, isBig) === kind) offset--;
  return offset;
}

function findWordEnd(document: VimText, from: number, isBig: boolean): number {
  const { length } = document.text;
  let offset = getNext(document, from) === from ? from + 1 : getNext(document, from);
  while (offset < length && getClass(document, offset, isBig) === "blank") offset++;
  if (offset >= length) return clampToLine(document, length);
  const kind = getClass(document, offset, isBig);
  while (offset < length && getClass(document, offset, isBig) === kind) offset++;
  return getPrevious(document, offset);
}

function findCharacter(
  document: VimText,
  { key, character }: Find,
  { count, isRepeated }: { count: number; isRepeated: boolean },
): Target | undefined {
  const { text, cursor } = document;
  const isForward = key === "f" || key === "t";
  const isTill = key === "t" || key === "T";
  const [start, end] = [getLineStart(document, cursor), getLineEnd(document, cursor)];
  // A repeated `t` would otherwise stay before the character that it found.
  const skipped =
    isTill && isRepeated ? (isForward ? getNext(document, cursor) : getPrevious(document, cursor)) : cursor;
  let found = skipped;
  for (let done = 0; done < count; done++) {
    found = isForward ? text.indexOf(character, found + 1) : found === 0 ? -1 : text.lastIndexOf(character, found - 1);
    if (found < start || found >= end) return undefined;
  }
  const offset = !isTill ? found : isForward ? getPrevious(document, found) : getNext(document, found);
  return { offset, kind: isForward ? "inclusive" : "exclusive" };
}
