/** Where words begin in a text, and the keys under which an index holds them. Pure. */

/** No part of a word; a letter without case, a lower-case letter or a digit; an upper-case letter; a letter of a script without spaces. */
const [separator, letter, upper, ideograph] = [0, 1, 2, 3];
const unknown = 255;

/** The class of each UTF-16 unit that was met. */
const classes = new Uint8Array(0x1_0000).fill(unknown);

function getClass(text: string, index: number): number {
  const unit = text.charCodeAt(index);
  const known = classes[unit]!;
  return known === unknown ? (classes[unit] = classify(String.fromCharCode(unit))) : known;
}

const withoutSpaces =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

function classify(character: string): number {
  if (!/[\p{L}\p{N}]/u.test(character)) return separator;
  if (withoutSpaces.test(character)) return ideograph;
  return /\p{Lu}/u.test(character) ? upper : letter;
}

export const isWordCharacter = (text: string, index: number): boolean =>
  index < text.length && getClass(text, index) !== separator;

/** Longer runs are data such as Base64, where a change of case begins no word. */
const maxNameLength = 64;

/**
 * Calls `visit` with each position where a word begins, and with the end of the letters and digits that follow. `flat` still
 * has its case: `getHTTPServer` has three words. In a script without spaces, every letter may begin a word.
 */
export function visitWords(flat: string, visit: (start: number, end: number) => void): void {
  for (let start = 0; start < flat.length; start++) {
    if (getClass(flat, start) === separator) continue;
    const end = findRunEnd(flat, start);
    visit(start, end);
    for (let index = start + 1; index < end; index++) if (beginsWithin(flat, index, end - start)) visit(index, end);
    start = end;
  }
}

export function findRunEnd(flat: string, start: number): number {
  let end = start;
  while (isWordCharacter(flat, end)) end++;
  return end;
}

/** Whether a word begins at a letter or digit of `flat`. */
export function isWordStart(flat: string, index: number): boolean {
  if (index === 0 || getClass(flat, index - 1) === separator) return true;
  let start = index;
  // More is not needed to know that a run is too long.
  while (start > 0 && index - start <= maxNameLength && getClass(flat, start - 1) !== separator) start--;
  let end = index;
  while (end - start <= maxNameLength && isWordCharacter(flat, end)) end++;
  return beginsWithin(flat, index, end - start);
}

/** Whether a word begins inside a run of letters and digits. */
function beginsWithin(flat: string, index: number, runLength: number): boolean {
  const [before, here] = [getClass(flat, index - 1), getClass(flat, index)];
  if (here === ideograph || before === ideograph) return true;
  if (here !== upper || runLength > maxNameLength) return false;
  return before !== upper || (index + 1 < flat.length && getClass(flat, index + 1) === letter);
}

const maxKeyLength = 10;
const maxIdeographKeyLength = 2;

/** The beginning of a word in lower case. If a word begins with `run`, its key begins with that of `run`. */
export function toKey(run: string): string {
  return run.slice(0, getClass(run, 0) === ideograph ? maxIdeographKeyLength : maxKeyLength);
}
