/** Text as searches compare it: without case and accents, and with one space in place of other white space. Pure. */

export interface FoldedText {
  /** Without accents, but with case: it shows where the words of `sessionDirectory` begin. */
  flat: string;
  /** `flat` without case; it has the same length. */
  lower: string;
}

export function foldText(text: string): FoldedText {
  const flat = removeAccents(joinLines(text));
  return { flat, lower: removeCase(flat) };
}

/** The text in one line. */
export const joinLines = (text: string): string => text.replace(/[^\S ]\s*| \s+/g, " ");

const notAscii = /[\u0080-\uffff]/;

const notAsciiRun = /[\u0080-\uffff]+/g;

/** Most of a text is ASCII, which is not looked at letter by letter. */
export const removeAccents = (text: string): string =>
  text.replace(notAsciiRun, (run) => run.normalize("NFD").replace(/\p{M}+/gu, ""));

/** A sigma at the end of a word is another letter only in lower case. */
const removeCase = (text: string): string => text.toLowerCase().replaceAll("ς", "σ");

/** Where ascending ranges of the folded text are in `line`, the text in one line. Each has at least one character. */
export function toLineRanges(line: string, ranges: readonly Range[]): Range[] {
  if (!notAscii.test(line)) return ranges.map(([start, end]) => [start, end]);
  const wanted = ranges.flatMap(([start, end]) => [start, end - 1]);
  const found: number[] = [];
  let [folded, original] = [0, 0];
  for (const character of line) {
    if (found.length === wanted.length) break;
    folded += character < "\u0080" ? 1 : removeAccents(character).length;
    while (found.length < wanted.length && wanted[found.length]! < folded) found.push(original);
    original += character.length;
  }
  return ranges.map((_range, index) => [found[2 * index]!, findCharacterEnd(line, found[2 * index + 1]!)]);
}

type Range = [start: number, end: number];

/** Accents that follow a character belong to it. */
function findCharacterEnd(text: string, start: number): number {
  return start + /^.\p{M}*/su.exec(text.slice(start, start + 64))![0].length;
}
