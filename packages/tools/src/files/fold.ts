/** Removes differences that a model cannot see or does not repeat, and maps positions back to the original. Pure. */

/** `text` is made of units. Several may stand for one character of the source, such as “fi” for a ligature. */
export interface Folded {
  readonly source: string;
  readonly text: string;
  /** Where the character of each unit begins in the source; undefined when both texts are the same. */
  readonly starts: Int32Array | undefined;
}

export const unfolded = (source: string): Folded => ({ source, text: source, starts: undefined });

/** Every line break becomes LF. */
export function foldBreaks(source: string): Folded {
  return source.includes("\r") ? fold(source, { isLoose: false, keepsEnd: true }) : unfolded(source);
}

/**
 * Also blanks at the ends of lines go, quotes, dashes and spaces become the plain ones, and letters and punctuation of
 * other forms (full-width, ligatures, composed) become what Unicode calls compatible. `keepsEnd`: the text may end inside
 * a line, so its last blanks stay.
 */
export function foldLoosely(source: string, { keepsEnd }: { keepsEnd: boolean }): Folded {
  return fold(source, { isLoose: true, keepsEnd });
}

export const getStart = ({ starts }: Folded, unit: number): number => (starts ? starts[unit]! : unit);

/** Where the character of a unit ends in the source. */
export function getEnd(folded: Folded, unit: number): number {
  const start = getStart(folded, unit);
  if (!folded.starts) return start + 1;
  const isPair = folded.source.codePointAt(start)! > 0xffff && folded.text[unit] !== folded.source[start];
  return isPair || folded.source.startsWith("\r\n", start) ? start + 2 : start + 1;
}

/** Whether no character of the source has units on both sides. */
export const isBoundary = ({ starts }: Folded, unit: number): boolean =>
  !starts || unit === 0 || unit === starts.length || starts[unit] !== starts[unit - 1];

/** How many units begin before a position of the source. */
export function unitsBefore({ starts }: Folded, position: number): number {
  if (!starts) return position;
  let [low, high] = [0, starts.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (starts[middle]! < position) low = middle + 1;
    else high = middle;
  }
  return low;
}

const [tab, lineFeed, carriageReturn, space] = [0x09, 0x0a, 0x0d, 0x20];
const dropped = -1;
const isBigEndian = new Uint8Array(Uint16Array.of(1).buffer)[0] === 0;

function fold(source: string, { isLoose, keepsEnd }: { isLoose: boolean; keepsEnd: boolean }): Folded {
  let codes = new Uint16Array(source.length);
  let starts = new Int32Array(source.length);
  let count = 0;
  /** How many units there are up to the last one that is not blank. */
  let solid = 0;
  const add = (code: number, start: number) => {
    if (code === dropped) return;
    if (count === codes.length) {
      codes = grow(codes, new Uint16Array(count * 2));
      starts = grow(starts, new Int32Array(count * 2));
    }
    if (isLoose && code === lineFeed) count = solid;
    codes[count] = code;
    starts[count] = start;
    count++;
    if (code !== space && code !== tab) solid = count;
  };
  for (let index = 0; index < source.length; index++) {
    const start = index;
    const code = source.charCodeAt(index);
    if (code === carriageReturn) {
      if (source.charCodeAt(index + 1) === lineFeed) index++;
      add(lineFeed, start);
    } else if (isLoose && code >= 0x80) {
      const point = source.codePointAt(index)!;
      const compatible = getCompatible(point);
      if (compatible === undefined) add(plain(code, index > 0 ? source.charCodeAt(index - 1) : 0), start);
      else for (let at = 0; at < compatible.length; at++) add(plain(compatible.charCodeAt(at), 0), start);
      if (compatible !== undefined && point > 0xffff) index++;
    } else add(code, start);
  }
  if (!keepsEnd) count = solid;
  return { source, text: getText(codes.subarray(0, count)), starts: starts.subarray(0, count) };
}

function grow<T extends Uint16Array | Int32Array>(from: T, to: T): T {
  to.set(from);
  return to;
}

const compatibles = new Map<number, string | undefined>();

/** The characters that Unicode calls compatible with one; undefined for itself, and where `plain` knows better. */
function getCompatible(point: number): string | undefined {
  if (compatibles.has(point)) return compatibles.get(point);
  const character = String.fromCodePoint(point);
  const text = character.normalize("NFKD");
  const isKept = text === character || plain(point, 0) !== point || (point > 0xffff && /[\ud800-\udfff]/.test(text));
  compatibles.set(point, isKept ? undefined : text);
  return isKept ? undefined : text;
}

/** The plain character for one that may be beyond ASCII. */
function plain(code: number, before: number): number {
  if (code === 0xfeff || code === 0x200b) return dropped;
  if (code === 0xa0 || code === 0x1680 || code === 0x202f || code === 0x205f || code === 0x3000) return space;
  if (code >= 0x2000 && code <= 0x200a) return space;
  if ((code >= 0x2010 && code <= 0x2015) || code === 0x2212) return 0x2d;
  if ((code >= 0x2018 && code <= 0x201b) || code === 0x2032) return 0x27;
  if ((code >= 0x201c && code <= 0x201f) || code === 0x2033) return 0x22;
  // A byte that is not UTF-8 is shown to the model as U+FFFD.
  if (code >= 0xdc80 && code <= 0xdcff && (before < 0xd800 || before > 0xdbff)) return 0xfffd;
  return code;
}

function getText(codes: Uint16Array): string {
  const bytes = Buffer.from(codes.buffer, codes.byteOffset, codes.byteLength);
  return (isBigEndian ? Buffer.from(bytes).swap16() : bytes).toString("utf16le");
}
