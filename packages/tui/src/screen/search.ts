/** Finds text in lines. Case does not matter, and any blanks, also the end of a line, are one blank. */
import { toCells } from "../text/cells.ts";
import { stripTerminalSequences } from "../text/escape.ts";

/** A part of a match: the columns of a row, without `end`. */
export interface SearchSegment {
  row: number;
  start: number;
  end: number;
}

interface Corpus {
  lines: readonly string[];
  text: string;
  /** Where each line begins in `text`. */
  starts: number[];
}

/** Places of matches are found when they are asked for: there may be very many. */
export interface Matches {
  readonly count: number;
  /** From the row of its beginning on. */
  get(index: number): SearchSegment[];
}

export class SearchIndex {
  #corpus: Corpus = createCorpus([]);

  /** Lines that are the same as before are not read again. */
  search(lines: readonly string[], query: string): Matches {
    const before = this.#corpus.lines;
    const isSame = lines.length === before.length && lines.every((line, index) => line === before[index]);
    if (!isSame) this.#corpus = createCorpus(lines);
    const corpus = this.#corpus;
    const wanted = normalize(query).trim();
    const starts: number[] = [];
    let start = wanted === "" ? -1 : corpus.text.indexOf(wanted);
    for (; start !== -1; start = corpus.text.indexOf(wanted, start + wanted.length)) starts.push(start);
    const get = (index: number) => {
      const matchStart = starts[index] as number;
      return getSegments(corpus, matchStart, matchStart + wanted.length);
    };
    return { count: starts.length, get };
  }
}

/** A character that gets longer in lower case stays, so that places can be found again. */
const normalize = (text: string) =>
  text.replaceAll(/\s+/g, " ").replaceAll(/[^\x00-\x7f]|[A-Z]+/g, (part) => {
    const lower = part.toLowerCase();
    return lower.length === part.length ? lower : part;
  });

const normalizeLine = (line: string) => normalize(stripTerminalSequences(line)).trim();

function createCorpus(lines: readonly string[]): Corpus {
  const starts: number[] = [];
  const parts: string[] = [];
  let length = 0;
  for (const line of lines) {
    const part = normalizeLine(line);
    starts.push(length);
    if (part === "") continue;
    parts.push(part);
    length += part.length + 1;
  }
  return { lines, text: parts.join(" "), starts };
}

function getSegments({ lines, starts }: Corpus, start: number, end: number): SearchSegment[] {
  const segments: SearchSegment[] = [];
  for (let row = findRow(starts, start); row < lines.length && (starts[row] as number) < end; row++) {
    const offset = starts[row] as number;
    const columns = getColumns(lines[row] as string, start - offset, end - offset);
    if (columns) segments.push({ row, ...columns });
  }
  return segments;
}

/** The last row that begins at or before the place; empty lines begin where the next one does. */
function findRow(starts: readonly number[], place: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((starts[middle] as number) <= place) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Where characters of the normalized line are in the line itself. */
function getColumns(line: string, from: number, to: number): { start: number; end: number } | undefined {
  let column = 0;
  let place = 0;
  let isBlank = true;
  let start: number | undefined;
  let end = 0;
  for (const { text, width } of toCells(stripTerminalSequences(line))) {
    const wasBlank = isBlank;
    isBlank = /^\s+$/.test(text);
    const length = isBlank ? (wasBlank ? 0 : 1) : text.length;
    if (length > 0 && place + length > from && place < to) {
      start ??= column;
      end = column + width;
    }
    place += length;
    column += width;
  }
  return start === undefined ? undefined : { start, end };
}
