/** Replaces lines of a text. Every line number is of the text before: hunks never shift each other. Pure. */
import { ToolsError } from "../errors.ts";
import type { ChangedBlock } from "../files/diff.ts";
import { TextFile } from "./text.ts";

/** The lines from `start` up to `end` (0-based, `end` not included) become `lines`. Equal numbers insert. */
export interface Hunk {
  readonly start: number;
  readonly end: number;
  readonly lines: readonly string[];
  /** Whether it follows a line. At the same line, such an insertion goes before the one that precedes a line. */
  readonly follows?: boolean;
}

const isInsertion = (hunk: Hunk) => hunk.start === hunk.end;

/** From top to bottom. Insertions at the same line keep their order, and go before lines that are replaced there. */
export function sortHunks(hunks: readonly Hunk[]): Hunk[] {
  const rank = (hunk: Hunk) => (isInsertion(hunk) ? (hunk.follows ? 0 : 1) : 2);
  return [...hunks].sort((a, b) => a.start - b.start || rank(a) - rank(b));
}

/** Throws when two hunks want the same line, or one wants to insert inside what another replaces. */
export function refuseOverlaps(sorted: readonly Hunk[], path: string): void {
  let widest: Hunk | undefined;
  for (const hunk of sorted) {
    if (widest && hunk.start < widest.end) {
      throw new ToolsError(
        "overlap",
        `Two edits of ${path} overlap: ${describe(widest)} and ${describe(hunk)}. Nothing was changed. Make one edit of them.`,
      );
    }
    if (!widest || hunk.end > widest.end) widest = hunk;
  }
}

const describe = (hunk: Hunk) => {
  if (isInsertion(hunk))
    return hunk.start === 0 ? "an insertion before line 1" : `an insertion after line ${hunk.start}`;
  return hunk.end - hunk.start === 1 ? `line ${hunk.end}` : `lines ${hunk.start + 1}-${hunk.end}`;
};

/** The hunks must be sorted and free of overlaps. Each new line ends as the line ends that it replaces or adjoins. */
export function applyHunks(file: TextFile, sorted: readonly Hunk[]): TextFile {
  const { bytes, count, isOpen, starts: old } = file;
  const grown = sorted.reduce((sum, { start, end, lines }) => sum + lines.length - (end - start), 0);
  const starts = new Int32Array(count + grown);
  const parts = [bytes.subarray(0, file.contentStart)];
  let length = file.contentStart;
  let known = 0;
  const add = (part: Buffer) => {
    parts.push(part);
    length += part.length;
  };
  const keep = (from: number, to: number) => {
    setShifted(starts, known, old.subarray(from, to), length - file.getStart(from));
    known += to - from;
    add(bytes.subarray(file.getStart(from), file.getStart(to)));
  };
  let next = 0;
  for (const { start, end, lines, follows } of sorted) {
    keep(next, start);
    // A last line without a line break gets one when lines follow it.
    if (start === count && isOpen && next < count) add(Buffer.from(file.getEnding(count - 1)));
    const like = (offset: number) => {
      if (start === end) return Math.max(0, follows ? start - 1 : Math.min(start, count - 1));
      return Math.min(start + offset, end - 1);
    };
    for (const [offset, line] of lines.entries()) {
      starts[known++] = length;
      add(Buffer.from(line + file.getEnding(like(offset))));
    }
    next = end;
  }
  keep(next, count);
  const result = new TextFile(Buffer.concat(parts, length), starts);
  return isOpen && sorted.some((hunk) => hunk.end === count) ? withoutLastBreak(result) : result;
}

/** Copies numbers to `offset`, each grown by `shift`. At the top level, because V8 compiles the loops of closures again. */
function setShifted(target: Int32Array, offset: number, numbers: Int32Array, shift: number): void {
  target.set(numbers, offset);
  if (shift === 0) return;
  for (let index = offset; index < offset + numbers.length; index++) target[index]! += shift;
}

/** How many lines of context a diff has, and so how near hunks are that are shown together. */
const context = 3;

/** Returns what hunks changed, with the lines around it; `after` is what `applyHunks` made of `before`. */
export function changedBlocks(before: TextFile, after: TextFile, sorted: readonly Hunk[]): ChangedBlock[] {
  const blocks: ChangedBlock[] = [];
  let shift = 0;
  for (let index = 0; index < sorted.length;) {
    const start = Math.max(0, sorted[index]!.start - context);
    let end = start;
    let grown = 0;
    do {
      const hunk = sorted[index++]!;
      end = Math.min(before.count, hunk.end + context);
      grown += hunk.lines.length - (hunk.end - hunk.start);
    } while (index < sorted.length && sorted[index]!.start - context <= end);
    blocks.push({
      linesAbove: { before: start, after: start + shift },
      before: before.slice(start, end),
      after: after.slice(start + shift, end + shift + grown),
    });
    shift += grown;
  }
  return blocks;
}

/** A file without a line break at its end gets none. An empty last line keeps it: without, it would not be a line. */
function withoutLastBreak(file: TextFile): TextFile {
  if (file.isOpen || file.count === 0 || file.line(file.count - 1) === "") return file;
  return new TextFile(file.bytes.subarray(0, -file.getEnding(file.count - 1).length), file.starts);
}
