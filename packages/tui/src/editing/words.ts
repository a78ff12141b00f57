/** Where words begin and end. */
import type { Atom } from "./clusters.ts";

let segmenter: Intl.Segmenter | undefined;
/** Created when a text needs it: the first segmenter of a process takes 15 ms. */
const getSegmenter = () => (segmenter ??= new Intl.Segmenter(undefined, { granularity: "word" }));
const blank = /\s/;
const punctuation = /[!-,./:-@[-^`{-~-]/;

/** How much text is looked at; a word that is longer is crossed in steps. */
const maxLookAround = 512;

interface Part {
  start: number;
  end: number;
  isWord: boolean;
}

/** Skips blanks, then a word or a run of other characters. An atom is a word of its own. */
export function findWordStart(line: string, col: number, atoms: readonly Atom[] = []): number {
  let end = col;
  while (end > 0 && blank.test(line[end - 1] as string) && !isWithin(atoms, end - 1)) end--;
  const atom = atoms.find((candidate) => candidate.end === end);
  if (atom) return atom.start;
  const min = Math.max(0, end - maxLookAround, atoms.findLast((candidate) => candidate.end <= end)?.end ?? 0);
  let start = end;
  while (start > min && !blank.test(line[start - 1] as string)) start--;
  const parts = toParts(line.slice(start, end));
  const last = parts.at(-1);
  return last ? start + last.start : end;
}

export function findWordEnd(line: string, col: number, atoms: readonly Atom[] = []): number {
  let start = col;
  while (start < line.length && blank.test(line[start] as string)) start++;
  const atom = atoms.find((candidate) => candidate.start === start);
  if (atom) return atom.end;
  const max = Math.min(
    line.length,
    start + maxLookAround,
    atoms.find((candidate) => candidate.start >= start)?.start ?? line.length,
  );
  let end = start;
  while (end < max && !blank.test(line[end] as string)) end++;
  const first = toParts(line.slice(start, end))[0];
  return first ? start + first.end : start;
}

const isWithin = (atoms: readonly Atom[], index: number) =>
  atoms.some(({ start, end }) => start <= index && index < end);

/** Words, and what is between them, of a text without blanks. */
function toParts(text: string): Part[] {
  const parts: Part[] = [];
  const add = (start: number, end: number, isWord: boolean) => {
    const last = parts.at(-1);
    if (last && !last.isWord && !isWord) last.end = end;
    else parts.push({ start, end, isWord });
  };
  for (const { segment, index, isWordLike } of getSegmenter().segment(text)) {
    if (!isWordLike) {
      add(index, index + segment.length, false);
      continue;
    }
    let start = 0;
    for (let at = 0; at <= segment.length; at++) {
      const isEnd = at === segment.length;
      if (!isEnd && !punctuation.test(segment[at] as string)) continue;
      if (at > start) add(index + start, index + at, true);
      if (!isEnd) add(index + at, index + at + 1, false);
      start = at + 1;
    }
  }
  return parts;
}
