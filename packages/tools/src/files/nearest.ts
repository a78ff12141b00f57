/** Finds what a text that was not found may have meant. Pure, and bounded however large the file is. */
import { foldLoosely } from "./fold.ts";

const maxCandidates = 3;
const maxShownLines = 10;
const maxShownLength = 200;
/** How much of the file, of the text, and of one line is compared. */
const maxLines = 200_000;
const maxWantedLines = 200;
const maxComparedLength = 300;
const maxKeyLength = 1_000;
/** How much of the words must be the same for a line to be similar. */
const minLikeness = 0.4;

interface Candidate {
  /** 0-based, in the file. */
  first: number;
  remark: string;
}

/** The lines that are most like `oldText`, with line numbers; empty when there are none. */
export function describeNearest(source: string, oldText: string): string {
  const lines = source.split("\n", maxLines);
  const wanted = oldText
    .replace(/\r\n?/g, "\n")
    .replace(/^\n+|\n+$/g, "")
    .split("\n", maxWantedLines);
  const same = bySameLines(lines, wanted);
  const candidates = same.length > 0 ? same : bySimilarLine(lines, wanted);
  if (candidates.length === 0) return "";
  const height = Math.min(wanted.length, maxShownLines);
  const shown = candidates.map(({ first, remark }) => `${remark}:\n${excerpt(lines, first, height)}`);
  return `Nearest, with line numbers; copy from here or read the file again.\n\n${shown.join("\n\n")}`;
}

function excerpt(lines: readonly string[], first: number, height: number): string {
  const rows = lines.slice(first, first + height).map((line, index) => {
    const text = line.replace(/\r$/, "").toWellFormed();
    return `${first + index + 1}: ${text.length > maxShownLength ? `${text.slice(0, maxShownLength)}…` : text}`;
  });
  return rows.join("\n");
}

/** Equal for two lines that differ only in white space. */
function toKey(line: string): string {
  const text = line.slice(0, maxKeyLength).trim();
  return isAscii(text) ? text : foldLoosely(text, { keepsEnd: false }).text.trim();
}

const isAscii = (text: string) => !/[\u0080-\uffff]/.test(text);

/** Every line that occurs in both votes for where the text would begin. Indentation does not matter. */
function bySameLines(lines: readonly string[], wanted: readonly string[]): Candidate[] {
  const positions = new Map<string, number[]>();
  const keys = wanted.map(toKey);
  for (const [index, text] of keys.entries()) {
    if (!/\w{2}|[^\s\x21-\x7e]/.test(text)) continue;
    const known = positions.get(text);
    if (!known) positions.set(text, [index]);
    // A line that is repeated over and over says little about the position.
    else if (known.length < 5) known.push(index);
  }
  const votes = new Map<number, number>();
  for (const [index, line] of lines.entries()) {
    for (const position of positions.get(toKey(line)) ?? [])
      votes.set(index - position, (votes.get(index - position) ?? 0) + 1);
  }
  const minVotes = minLikeness * [...positions.values()].flat().length;
  return [...votes]
    .filter(([first, count]) => first >= 0 && count >= minVotes)
    .sort(([a, oneVotes], [b, otherVotes]) => otherVotes - oneVotes || a - b)
    .slice(0, maxCandidates)
    .map(([first]) => ({ first, remark: compareAt(lines, wanted, keys, first) }));
}

function compareAt(
  lines: readonly string[],
  wanted: readonly string[],
  keys: readonly string[],
  first: number,
): string {
  const getLine = (index: number) => lines[first + index] ?? "";
  const differing = keys.flatMap((text, index) => (toKey(getLine(index)) === text ? [] : [first + index + 1]));
  const range = formatRange(first, wanted.length, lines.length);
  const differ = range.startsWith("Lines") ? `${range} differ` : `${range} differs`;
  if (differing.length > 0) {
    if (wanted.length === 1) return differ;
    return `${differ} at ${differing.slice(0, 10).join(", ")}${differing.length > 10 ? " and further on" : ""}`;
  }
  // Only the beginnings of long lines were compared.
  const long = wanted.findIndex((line, index) => line.length > maxKeyLength && line.trim() !== getLine(index).trim());
  if (long < 0) return `${differ} only in white space`;
  return `${differ}, in line ${first + long + 1} from column ${getColumn(getLine(long), wanted[long]!)} on`;
}

/** Where a line begins to differ from the one that was wanted, 1-based; indentation does not matter. */
function getColumn(line: string, wanted: string): number {
  const [indented, text] = [line.trimStart(), wanted.trimStart()];
  let index = 0;
  while (index < indented.length && indented[index] === text[index]) index++;
  return line.length - indented.length + index + 1;
}

function formatRange(first: number, height: number, total: number): string {
  const last = Math.min(first + height, total);
  return last - first <= 1 ? `Line ${first + 1}` : `Lines ${first + 1}-${last}`;
}

/** The lines that share most words with the longest line of the text. */
function bySimilarLine(lines: readonly string[], wanted: readonly string[]): Candidate[] {
  const longest = wanted.reduce(
    (best, line, index) => (line.trim().length > wanted[best]!.trim().length ? index : best),
    0,
  );
  const words = getWords(wanted[longest]!);
  if (words.size === 0) return [];
  return lines
    .map((line, index) => ({ index, likeness: measureLikeness(words, getWords(line)) }))
    .filter(({ likeness }) => likeness >= minLikeness)
    .sort((a, b) => b.likeness - a.likeness || a.index - b.index)
    .slice(0, maxCandidates)
    .map(({ index }) => {
      const first = Math.max(0, index - longest);
      return { first, remark: `${formatRange(first, wanted.length, lines.length)} (line ${index + 1} is similar)` };
    });
}

const getWords = (line: string): Set<string> =>
  new Set(
    line
      .slice(0, maxComparedLength)
      .toLowerCase()
      .match(/[\p{L}\p{N}_]+/gu),
  );

function measureLikeness(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let shared = 0;
  for (const word of b) if (a.has(word)) shared++;
  return shared / (a.size + b.size - shared);
}
