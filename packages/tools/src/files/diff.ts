/** Makes unified diffs. Pure. The changes are known, so only the lines around them are compared. */
import { formatPatch, FILE_HEADERS_ONLY, structuredPatch, type StructuredPatchHunk } from "diff";
import { countBreaks, countLines, keepHead, defaultMaxBytes } from "../truncate.ts";
import { applyChanges, type Change } from "./match.ts";

interface ChangeSummary {
  /** A unified diff with three lines of context. It is cut where it is too long, and says so. */
  diff: string;
  /** 1-based, in the new text. */
  firstChangedLine: number;
}

const contextLines = 3;
/**
 * The limit of comparing, in squares of differences: this many take some ten milliseconds. A change that would take more
 * is shown as all old lines, then all new ones.
 */
const maxCost = 400 ** 2;

/** Whole lines that changed, with three lines of context, and how many lines there are above them. */
export interface ChangedBlock {
  before: string;
  after: string;
  linesAbove: { before: number; after: number };
}

/** Formats blocks in the order of the text, at least one of which differs. */
export function unifiedDiff(name: string, blocks: readonly ChangedBlock[], maxBytes = defaultMaxBytes): ChangeSummary {
  // If less is shown, less needs to be compared.
  let left = maxCost * Math.min(1, maxBytes / defaultMaxBytes);
  const hunks = blocks.flatMap(({ before, after, linesAbove }) => {
    const compared = compare(before, after, Math.floor(Math.sqrt(left)));
    left = compared ? left - differences(compared) ** 2 : left / 2;
    return (compared ?? [toReplacement(before, after)]).map((hunk) => ({
      ...hunk,
      oldStart: hunk.oldStart + linesAbove.before,
      newStart: hunk.newStart + linesAbove.after,
    }));
  });
  const patch = { oldFileName: name, newFileName: name, oldHeader: undefined, newHeader: undefined, hunks };
  const diff = bounded(formatPatch(patch, FILE_HEADERS_ONLY).toWellFormed(), maxBytes);
  return { diff, firstChangedLine: firstChanged(hunks) };
}

/** `changes` in the order of the text; together they change something. */
export function summariseChanges(
  source: string,
  changes: readonly Change[],
  name: string,
  maxBytes = defaultMaxBytes,
): ChangeSummary {
  const linesAbove = { before: 0, after: 0 };
  let done = 0;
  const blocks = getBlocks(source, changes).map(({ from, to, text: after }): ChangedBlock => {
    const skipped = countBreaks(source.slice(done, from));
    const before = source.slice(from, to);
    const block = {
      before,
      after,
      linesAbove: { before: linesAbove.before + skipped, after: linesAbove.after + skipped },
    };
    linesAbove.before += skipped + countBreaks(before);
    linesAbove.after += skipped + countBreaks(after);
    done = to;
    return block;
  });
  return unifiedDiff(name, blocks, maxBytes);
}

/** Whole lines with their context. Changes that share any are one block. */
function getBlocks(source: string, changes: readonly Change[]): Change[] {
  const groups: { from: number; to: number; changes: Change[] }[] = [];
  for (const change of changes) {
    const from = linesBack(source, change.from, contextLines);
    const to = linesOn(source, change.to, contextLines);
    const last = groups.at(-1);
    if (last && from <= last.to) {
      last.to = to;
      last.changes.push(change);
    } else groups.push({ from, to, changes: [change] });
  }
  return groups.map(({ from, to, changes: inside }) => {
    const shifted = inside.map((change) => ({ ...change, from: change.from - from, to: change.to - from }));
    return { from, to, text: applyChanges(source.slice(from, to), shifted) };
  });
}

/** Where the line begins that is `count` lines before the one of `position`. */
function linesBack(source: string, position: number, count: number): number {
  let start = lineStart(source, position);
  for (let left = count; left > 0 && start > 0; left--) start = lineStart(source, start - 1);
  return start;
}

const lineStart = (source: string, position: number) =>
  position === 0 ? 0 : source.lastIndexOf("\n", position - 1) + 1;

/** Where the line ends, its break included, that is `count` lines after the one of `position`. */
function linesOn(source: string, position: number, count: number): number {
  let end = position;
  for (let left = count; left >= 0; left--) {
    const feed = source.indexOf("\n", end);
    if (feed < 0) return source.length;
    end = feed + 1;
  }
  return end;
}

/** Undefined when there are more than `maxDifferences`. */
function compare(before: string, after: string, maxDifferences: number): StructuredPatchHunk[] | undefined {
  const options = { context: contextLines, maxEditLength: maxDifferences };
  return structuredPatch("", "", before, after, undefined, undefined, options)?.hunks;
}

const differences = (hunks: readonly StructuredPatchHunk[]): number =>
  hunks.reduce((sum, { lines }) => sum + lines.filter((line) => /^[-+]/.test(line)).length, 0);

/** All old lines, then all new ones, between the lines that both begin with and those that both end with. */
function toReplacement(before: string, after: string): StructuredPatchHunk {
  const [old, fresh] = [before, after].map((text) => text.split(/(?<=\n)/).filter((line) => line !== "")) as [
    string[],
    string[],
  ];
  const minLength = Math.min(old.length, fresh.length);
  let head = 0;
  while (head < minLength && old[head] === fresh[head]) head++;
  let tail = 0;
  while (tail < minLength - head && old.at(-1 - tail) === fresh.at(-1 - tail)) tail++;
  const lines = [
    ...old.slice(0, head).flatMap((line) => getRow(" ", line)),
    ...old.slice(head, old.length - tail).flatMap((line) => getRow("-", line)),
    ...fresh.slice(head, fresh.length - tail).flatMap((line) => getRow("+", line)),
    ...old.slice(old.length - tail).flatMap((line) => getRow(" ", line)),
  ];
  return { oldStart: 1, oldLines: old.length, newStart: 1, newLines: fresh.length, lines };
}

const getRow = (sign: string, line: string): string[] =>
  line.endsWith("\n") ? [sign + line.slice(0, -1)] : [sign + line, "\\ No newline at end of file"];

function firstChanged(hunks: readonly StructuredPatchHunk[]): number {
  const hunk = hunks[0]!;
  return (
    hunk.newStart +
    Math.max(
      0,
      hunk.lines.findIndex((line) => !line.startsWith(" ")),
    )
  );
}

function bounded(diff: string, maxBytes: number): string {
  const { text, by, shownLines, totalLines } = keepHead(diff, { maxBytes });
  return by ? `${text}\n[The diff continues for ${countLines(totalLines - shownLines)}.]` : text;
}
