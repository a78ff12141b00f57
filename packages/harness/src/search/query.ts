/** A query, and where it matches a text. Pure: what an index finds is compared with this, and so is a plain scan. */
import { HarnessError } from "@tau/protocol";
import { type FoldedText, foldText, joinLines, toLineRanges } from "./fold.ts";
import { findRunEnd, isWordCharacter, isWordStart, toKey } from "./words.ts";

/** Words that an index can find for a term. */
export interface WantedWord {
  /** A key in UTF-8. */
  key: Uint8Array;
  /** Whether longer words match too. */
  isPrefix: boolean;
}

interface Term {
  /** Folded. */
  text: string;
  /** Whether it matches only where a word begins. */
  startsWord: boolean;
  words: readonly WantedWord[];
}

/** Terms that all have to be in one message. */
export type SearchQuery = readonly Term[];

/**
 * Terms are separated by spaces; those in quotes are one term, with its spaces. A term that begins with a letter or digit matches
 * where a word begins. Throws `invalid_input` if there is nothing to search for.
 */
export function parseQuery(text: string): SearchQuery {
  const line = joinLines(text);
  const terms = [...line.matchAll(/"([^"]*)(?:"|$)|[^\s"]+/g)].map(([whole, quoted]) => (quoted ?? whole).trim());
  const query = terms.map((term) => foldText(term).lower).filter((term) => term !== "");
  if (query.length > 0) return query.map(toTerm);
  throw new HarnessError("invalid_input", "There is nothing to search for: give a word, or a phrase in quotes.");
}

function toTerm(text: string): Term {
  const words: WantedWord[] = [];
  for (let start = 0; start < text.length; start++) {
    if (!isWordCharacter(text, start)) continue;
    const end = findRunEnd(text, start);
    words.push({ key: Buffer.from(toKey(text.slice(start, end))), isPrefix: end === text.length });
    start = end;
  }
  return { text, startsWord: isWordCharacter(text, 0), words };
}

/** Where a term is in a text from `position` on; -1 if it is not there. */
function findTerm({ flat, lower }: FoldedText, { text, startsWord }: Term, position = 0): number {
  let index = lower.indexOf(text, position);
  while (startsWord && index >= 0 && !isWordStart(flat, index)) index = lower.indexOf(text, index + 1);
  return index;
}

export interface Excerpt {
  /** A single line, with `…` where the text is cut. */
  text: string;
  /** Where the terms are in `text`: pairs of a start and an end, ascending, which do not overlap. */
  marks: [start: number, end: number][];
}

const charactersBefore = 50;
const maxExcerptLength = 180;
const maxMarks = 20;

/** The surroundings of the first match. Undefined if the text does not match. */
export function getExcerpt(text: string, query: SearchQuery): Excerpt | undefined {
  const folded = foldText(text);
  const firsts = query.map((term) => findTerm(folded, term));
  if (firsts.includes(-1)) return undefined;
  const first = Math.min(...firsts);
  const spans = findSpans(folded, query, { start: first, end: first + maxExcerptLength });
  const line = joinLines(text);
  const ranges = toLineRanges(line, spans);
  const [firstStart, firstEnd] = ranges[0]!;
  const isCutBefore = firstStart > charactersBefore;
  const from = isCutBefore ? alignStart(line, firstStart - charactersBefore) : 0;
  const to = alignEnd(line, Math.max(from + maxExcerptLength, firstEnd));
  const shift = from - (isCutBefore ? 1 : 0);
  const marks = ranges
    .filter(([start]) => start < to)
    .map(([start, end]): [number, number] => [start - shift, Math.min(end, to) - shift]);
  return { text: `${isCutBefore ? "…" : ""}${line.slice(from, to)}${to < line.length ? "…" : ""}`, marks };
}

/** The matches that begin between `start` and `end`, joined where they overlap. */
function findSpans(folded: FoldedText, query: SearchQuery, { start, end }: { start: number; end: number }) {
  const spans: [number, number][] = [];
  for (const term of query) {
    let index = findTerm(folded, term, start);
    for (let count = 0; index >= 0 && index < end && count < maxMarks; count++) {
      spans.push([index, index + term.text.length]);
      index = findTerm(folded, term, index + term.text.length);
    }
  }
  spans.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const joined: [number, number][] = [];
  for (const [from, to] of spans) {
    const last = joined.at(-1);
    if (last && from <= last[1]) last[1] = Math.max(last[1], to);
    else joined.push([from, to]);
  }
  return joined;
}

const isSecondHalf = (text: string, index: number): boolean => {
  const unit = text.charCodeAt(index);
  return unit >= 0xdc00 && unit <= 0xdfff;
};

/** Not in the middle of a character. */
const alignStart = (text: string, index: number): number => (isSecondHalf(text, index) ? index - 1 : index);
const alignEnd = (text: string, index: number): number =>
  index < text.length && isSecondHalf(text, index) ? index + 1 : Math.min(index, text.length);
