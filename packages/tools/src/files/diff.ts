/** What changed, as a unified diff. Pure. The changes are known, so that only the lines around them are compared. */
import { formatPatch, FILE_HEADERS_ONLY, structuredPatch, type StructuredPatchHunk } from "diff";
import { countBreaks, countLines, keepHead } from "../truncate.ts";
import type { Change } from "./match.ts";
import { wellFormed } from "./text-file.ts";

export interface ChangeSummary {
  /** A unified diff with three lines of context. What is too long of it is left out, and it says so. */
  diff: string;
  /** 1-based, in the new text. */
  firstChangedLine: number;
}

const contextLines = 3;
/** More differences than this in one place are shown as all old lines, then all new ones. */
const mostDifferences = 1_000;

/** `changes` in the order of the text; at least one. */
export function summarise(source: string, changes: readonly Change[], name: string): ChangeSummary {
  const hunks: StructuredPatchHunk[] = [];
  let [oldLine, newLine, done] = [0, 0, 0];
  for (const block of blocksOf(source, changes)) {
    const skipped = countBreaks(source.slice(done, block.from));
    oldLine += skipped;
    newLine += skipped;
    const before = source.slice(block.from, block.to);
    for (const hunk of compare(before, block.text)) {
      hunks.push({ ...hunk, oldStart: hunk.oldStart + oldLine, newStart: hunk.newStart + newLine });
    }
    oldLine += countBreaks(before);
    newLine += countBreaks(block.text);
    done = block.to;
  }
  const patch = { oldFileName: name, newFileName: name, oldHeader: undefined, newHeader: undefined, hunks };
  return { diff: bounded(wellFormed(formatPatch(patch, FILE_HEADERS_ONLY))), firstChangedLine: firstChanged(hunks) };
}

/** Whole lines with their context. Changes that share any are one block. */
function blocksOf(source: string, changes: readonly Change[]): Change[] {
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
  return groups.map((group) => {
    const parts: string[] = [];
    let done = group.from;
    for (const { from, to, text } of group.changes) {
      parts.push(source.slice(done, from), text);
      done = to;
    }
    return { from: group.from, to: group.to, text: [...parts, source.slice(done, group.to)].join("") };
  });
}

/** Where the line begins that is `count` lines before the one of `place`. */
function linesBack(source: string, place: number, count: number): number {
  let start = lineStart(source, place);
  for (let left = count; left > 0 && start > 0; left--) start = lineStart(source, start - 1);
  return start;
}

const lineStart = (source: string, place: number) => (place === 0 ? 0 : source.lastIndexOf("\n", place - 1) + 1);

/** Where the line ends, its break included, that is `count` lines after the one of `place`. */
function linesOn(source: string, place: number, count: number): number {
  let end = place;
  for (let left = count; left >= 0; left--) {
    const feed = source.indexOf("\n", end);
    if (feed < 0) return source.length;
    end = feed + 1;
  }
  return end;
}

function compare(before: string, after: string): StructuredPatchHunk[] {
  const options = { context: contextLines, maxEditLength: mostDifferences };
  const patch = structuredPatch("", "", before, after, undefined, undefined, options);
  return patch?.hunks ?? [replacementOf(before, after)];
}

function replacementOf(before: string, after: string): StructuredPatchHunk {
  const [removed, added] = [rowsOf(before, "-"), rowsOf(after, "+")];
  const count = (rows: string[]) => rows.filter((row) => !row.startsWith("\\")).length;
  return { oldStart: 1, oldLines: count(removed), newStart: 1, newLines: count(added), lines: [...removed, ...added] };
}

function rowsOf(text: string, sign: string): string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  const isOpen = lines.at(-1) !== "";
  if (!isOpen) lines.pop();
  return [...lines.map((line) => `${sign}${line}`), ...(isOpen ? ["\\ No newline at end of file"] : [])];
}

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

function bounded(diff: string): string {
  const { text, by, shownLines, totalLines } = keepHead(diff);
  return by ? `${text}\n[The diff goes on for ${countLines(totalLines - shownLines)}.]` : text;
}
