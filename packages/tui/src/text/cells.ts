/** Splits text into what a terminal draws: grapheme clusters with their widths in columns, and escape sequences. */
import { eastAsianWidth } from "get-east-asian-width";
import { getEscapeAt, isStyleParameter, stripTerminalSequences } from "./escape.ts";

export interface Cell {
  readonly text: string;
  /** In columns; 0 for escape sequences and control characters. */
  readonly width: number;
  readonly isEscape: boolean;
}

/** Drawn as this many blanks, since the column at which a component is drawn is not known to it. */
export const tabWidth = 3;

/** Letters, punctuation, arrows, signs, lines and Braille: one column each. */
const narrowUnits =
  "\\x20-\\x7e\\u00a0-\\u00ac\\u00ae-\\u02ff\\u0370-\\u0482\\u048a-\\u052f\\u2010-\\u2027\\u2190-\\u22ff\\u2500-\\u25fc\\u2713\\u2717\\u2800-\\u28ff";
/** Chinese, Japanese and Korean text with its punctuation: two columns each. */
const wideUnits =
  "\\u3000-\\u3029\\u3041-\\u3096\\u30a0-\\u30ff\\u3400-\\u4dbf\\u4e00-\\u9fff\\uac00-\\ud7a3\\uff01-\\uff60\\uffe0-\\uffe6";
const firstWideUnit = 0x3000;
/** None of these code units joins with another of them, so that no segmenter is needed between two. */
const standalone = new RegExp(`[${narrowUnits}${wideUnits}]`);
const standaloneRun = new RegExp(`[${narrowUnits}${wideUnits}]+`, "y");
/** For fewer of them it is cheaper to continue with the segmenter. */
const longRun = new RegExp(`[${narrowUnits}${wideUnits}]{16}`, "y");
const onlyNarrow = new RegExp(`^[${narrowUnits}]*$`);
const zeroWidth = /^[\p{Mn}\p{Me}\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}]$/u;
const spacingMark = /^\p{Mc}$/u;
const emojiPresentation = /^\p{Emoji_Presentation}/u;
const pictograph = /^\p{Extended_Pictographic}/u;
const regionalIndicator = /^\p{Regional_Indicator}/u;

let segmenter: Intl.Segmenter | undefined;
/** Created when a text needs it: the first segmenter of a process takes 15 ms. */
const getSegmenter = () => (segmenter ??= new Intl.Segmenter(undefined, { granularity: "grapheme" }));

/** Whether a text has no escape sequence, and is as wide as it is long. Most texts are. */
export const isSimpleText = (text: string): boolean => onlyNarrow.test(text);

/** The columns that a terminal needs for the text. Line breaks count as nothing. */
export function visibleWidth(text: string): number {
  if (isSimpleText(text)) return text.length;
  const styled = measureStyledAscii(text);
  if (styled !== undefined) return styled;
  const visible = stripTerminalSequences(text);
  if (isSimpleText(visible)) return visible.length;
  let width = 0;
  for (const cell of toCells(visible)) width += cell.width;
  return width;
}

/** Most lines are printable ASCII with styles: measured in one pass, without a copy. Undefined if there is anything else. */
function measureStyledAscii(text: string): number | undefined {
  let width = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code >= 0x20 && code <= 0x7e) {
      width++;
      continue;
    }
    if (code !== 0x1b || text[index + 1] !== "[") return undefined;
    index += 2;
    while (isStyleParameter(text.charCodeAt(index))) index++;
    if (text[index] !== "m") return undefined;
  }
  return width;
}

export function toCells(text: string): Cell[] {
  const cells: Cell[] = [];
  let index = 0;
  while (index < text.length) {
    const escape = getEscapeAt(text, index);
    if (escape !== undefined) {
      cells.push({ text: escape, width: 0, isEscape: true });
      index += escape.length;
      continue;
    }
    const end = findRunEnd(text, index);
    pushRun(cells, text.slice(index, end));
    index = end;
  }
  return cells;
}

/** The index of the next escape character, and one further than `start` at least. */
function findRunEnd(text: string, start: number): number {
  const next = text.indexOf("\x1b", start + 1);
  return next === -1 ? text.length : next;
}

function pushRun(cells: Cell[], run: string): void {
  let index = 0;
  while (index < run.length) {
    standaloneRun.lastIndex = index;
    const text = standaloneRun.exec(run)?.[0];
    if (text === undefined) {
      index += pushClusters(cells, run, index);
      continue;
    }
    // A mark that follows belongs to the last character.
    const end = index + text.length < run.length ? index + text.length - 1 : index + text.length;
    for (; index < end; index++) cells.push(getStandaloneCell(run.charCodeAt(index)) as Cell);
    if (index < run.length) index += pushClusters(cells, run, index);
  }
}

const standaloneCells: (Cell | null)[] = [];

/** Null for a code unit that may join with a neighbor. Two neighbors that have cells here are two clusters. */
export function getStandaloneCell(code: number): Cell | null {
  const known = standaloneCells[code];
  if (known !== undefined) return known;
  const text = String.fromCharCode(code);
  const width = code < firstWideUnit ? 1 : 2;
  return (standaloneCells[code] = standalone.test(text) ? { text, width, isEscape: false } : null);
}

/** The segmenter takes quadratic time for long texts, so that it gets pieces; none ends within a cluster of usual length. */
const pieceLength = 256;

/** Adds clusters from `start` on, until many standalone ones follow. Returns how many code units they have. */
function pushClusters(cells: Cell[], run: string, start: number): number {
  const piece = run.slice(start, start + pieceLength);
  const isLast = start + piece.length >= run.length;
  let length = 0;
  for (const { segment, index } of getSegmenter().segment(piece)) {
    // The last cluster of a piece may continue in the next.
    if (!isLast && index > 0 && index + segment.length === piece.length) break;
    cells.push({ text: segment, width: getClusterWidth(segment), isEscape: false });
    length = index + segment.length;
    longRun.lastIndex = length;
    if (index > 0 && longRun.test(piece)) break;
  }
  return length;
}

function getClusterWidth(cluster: string): number {
  if (cluster === "\t") return tabWidth;
  if (cluster.includes("\ufe0f") || isEmoji(cluster)) return cluster === "\ufe0f" ? 0 : 2;
  let width = 0;
  for (const character of cluster) {
    if (zeroWidth.test(character)) continue;
    if (width > 0 && spacingMark.test(character)) continue;
    width += eastAsianWidth(character.codePointAt(0) as number);
  }
  return width;
}

function isEmoji(cluster: string): boolean {
  if (regionalIndicator.test(cluster)) return true;
  return emojiPresentation.test(cluster) || (cluster.includes("\u200d") && pictograph.test(cluster));
}
