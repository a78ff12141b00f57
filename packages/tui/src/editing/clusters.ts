/** Grapheme clusters of a line of text that is edited. All functions look only at the text around an index. */
import { getStandaloneCell, toCells } from "../text/cells.ts";

export interface Cluster {
  /** Where it begins in the line. */
  readonly index: number;
  readonly text: string;
  /** In columns. */
  readonly width: number;
}

/** A part of a line that behaves as one cluster. */
export interface Atom {
  readonly start: number;
  readonly end: number;
}

const controls = /[\x00-\x1f\x7f-\x9f]/g;

/** Replaces each control character by a visible character of one column: none may reach a terminal. */
const toVisible = (line: string): string => line.replace(controls, toPicture);

function toPicture(control: string): string {
  const code = control.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? "\u2421" : "\ufffd";
}

/** The longest text that is segmented at once, since the time of the segmenter grows with the square of it. */
const pieceLength = 256;

/** The clusters from `start` on, which has to be a boundary. An atom is one cluster. */
export function* clustersFrom(line: string, start: number, atoms: readonly Atom[] = []): Generator<Cluster> {
  let index = start;
  let nextAtom = atoms.findIndex((atom) => atom.start >= start);
  while (index < line.length) {
    const atom = nextAtom === -1 ? undefined : atoms[nextAtom];
    if (atom?.start === index) {
      const text = toVisible(line.slice(index, atom.end));
      yield { index, text, width: toCells(text).reduce((sum, cell) => sum + cell.width, 0) };
      index = atom.end;
      nextAtom++;
      continue;
    }
    const end = atom ? atom.start : line.length;
    for (let cell = getCell(line, index); cell && index + 1 < end;) {
      const next = getCell(line, index + 1);
      if (!next) break;
      yield { index, text: cell.text, width: cell.width };
      index++;
      cell = next;
    }
    const pieceEnd = endPiece(line, index + pieceLength, end);
    const cells = toCells(toVisible(line.slice(index, pieceEnd)));
    // The last cluster of a piece may continue in the next.
    if (pieceEnd < end && cells.length > 1) cells.pop();
    for (const { text, width } of cells) {
      yield { index, text, width };
      index += text.length;
    }
  }
}

/** Ends a piece before a character that it would cut in two: half of one looks like a cluster of its own. */
function endPiece(line: string, wanted: number, end: number): number {
  if (wanted >= end) return end;
  const last = line.charCodeAt(wanted - 1);
  return last >= 0xd800 && last <= 0xdbff ? wanted - 1 : wanted;
}

const getCell = (line: string, index: number) => getStandaloneCell(line.charCodeAt(index));

/** The first boundary after `col`, which has to be a boundary itself. */
export function nextBoundary(line: string, col: number, atoms: readonly Atom[] = []): number {
  for (const { text } of clustersFrom(line, col, atoms)) return col + text.length;
  return line.length;
}

/** The last boundary before `col`. */
export function previousBoundary(line: string, col: number, atoms: readonly Atom[] = []): number {
  const atom = atoms.find(({ start, end }) => start < col && col <= end);
  if (atom) return atom.start;
  let previous = 0;
  for (const { index } of clustersFrom(line, findStableBoundary(line, col - 1, atoms), atoms)) {
    if (index >= col) break;
    previous = index;
  }
  return previous;
}

/** `col` itself if it is a boundary; otherwise the end of the cluster that it is in. */
export function snapToBoundary(line: string, col: number, atoms: readonly Atom[] = []): number {
  if (col <= 0) return 0;
  if (col >= line.length) return line.length;
  const atom = atoms.find(({ start, end }) => start < col && col < end);
  if (atom) return atom.end;
  for (const { index } of clustersFrom(line, findStableBoundary(line, col, atoms), atoms)) {
    if (index >= col) return index;
  }
  return line.length;
}

const maxLookBehind = 4 * pieceLength;

/** A boundary at or before `index` that two characters are enough to recognise; the nearest there is. */
function findStableBoundary(line: string, index: number, atoms: readonly Atom[]): number {
  const atom = atoms.findLast(({ end }) => end <= index);
  const min = Math.max(atom?.end ?? 0, index - maxLookBehind);
  for (let at = Math.min(index, line.length - 1); at > min; at--) {
    if (getCell(line, at) && getCell(line, at - 1)) return at;
  }
  return isInsidePair(line, min) ? min + 1 : Math.max(0, min);
}

const isInsidePair = (line: string, index: number) => (line.codePointAt(index - 1) ?? 0) > 0xffff;
