/** Replacing lines of a text. Every number is of the text before: hunks never shift one another. Pure. */
import { ToolsError } from "../errors.ts";
import { TextFile } from "./text.ts";

/** The lines from `start` up to `end` (0-based, `end` not included) become `lines`. Equal numbers insert. */
export interface Hunk {
  readonly start: number;
  readonly end: number;
  readonly lines: readonly string[];
  /** Of two insertions at one place, the one that follows a line goes before the one that precedes a line. */
  readonly follows?: boolean;
}

const isInsertion = (hunk: Hunk) => hunk.start === hunk.end;

/** From top to bottom. Insertions at one place keep their order, and stand before lines that are replaced there. */
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
  const { raw, count } = file;
  const isOpen = raw !== "" && !raw.endsWith("\n");
  const parts: string[] = [];
  const old = file.starts;
  const grown = sorted.reduce((sum, { start, end, lines }) => sum + lines.length - (end - start), 0);
  const starts = new Int32Array(count + grown);
  let known = 0;
  let length = 0;
  const add = (part: string) => {
    parts.push(part);
    length += part.length;
  };
  const keep = (from: number, to: number) => {
    const shift = length - file.startOf(from);
    for (let line = from; line < to; line++) starts[known++] = old[line]! + shift;
    add(raw.slice(file.startOf(from), file.startOf(to)));
  };
  let at = 0;
  for (const { start, end, lines, follows } of sorted) {
    keep(at, start);
    // What follows a last line without a line break gives it one.
    if (start === count && isOpen && at < count) add(file.endingOf(count - 1));
    const like = (offset: number) => {
      if (start === end) return Math.max(0, follows ? start - 1 : Math.min(start, count - 1));
      return Math.min(start + offset, end - 1);
    };
    for (const [offset, line] of lines.entries()) {
      starts[known++] = length;
      add(line + file.endingOf(like(offset)));
    }
    at = end;
  }
  keep(at, count);
  const result = parts.join("");
  const isEndNew = isOpen && sorted.some((hunk) => hunk.end === count);
  return new TextFile(isEndNew ? withoutLastBreak(result) : result, file.hasMark, starts);
}

/** The file had no line break at its end and gets none. An empty last line needs it: without, it would be no line. */
function withoutLastBreak(text: string): string {
  const open = text.replace(/\r?\n$/, "");
  return open === "" || open.endsWith("\n") ? text : open;
}
