/** Finds lines again in a text that changed. A doubtful position is no position. Pure. */
import { alignLines, matchLines } from "./align.ts";
import type { Hunk } from "./apply.ts";
import type { Effort } from "./unambiguous-matches.ts";

/** Where a hunk goes in the current text; `way` says what is reported. */
interface Placement {
  hunks: Hunk[];
  way: "moved" | "merged";
}

export interface Relocator {
  /** A hunk on the old text as hunks on the current text. For an insertion, `anchor` is the line that it adjoins. */
  place(hunk: Hunk, anchor: { start: number; end: number }): Placement | undefined;
  /** Roughly where a line is now, for showing the spot. */
  guess(line: number): number;
}

/** The limit of all comparisons of one call: a few milliseconds. Edits that would need more are not recovered. */
export const maxEffort = 300_000;

/** A line is recognised by its surroundings: all lines from a pin above it to a pin below it are there, unchanged. */
export function createRelocator(before: readonly string[], now: readonly string[], effort: Effort): Relocator {
  const alignment = alignLines(before, now, effort);

  /** Whether the current text has exactly this change already. */
  const isMade = ({ start, end, lines }: Hunk): boolean => {
    const above = alignment.offsetFrom(start - 1, "above");
    const below = alignment.offsetFrom(end, "below");
    if (above === undefined || below === undefined || below - above !== lines.length - (end - start)) return false;
    return lines.every((line, index) => now[start + above + index] === line);
  };

  /** A change as small as it can be, line by line, as in a merge of three texts. */
  const merge = (hunk: Hunk): Hunk[] | undefined => {
    const hunks: Hunk[] = [];
    for (const part of smallest(hunk, before, effort)) {
      // An insertion between two lines needs both.
      const isInsertion = part.start === part.end;
      const first = isInsertion ? Math.max(0, part.start - 1) : part.start;
      const last = isInsertion ? Math.min(before.length - 1, part.end) : part.end - 1;
      const offset = alignment.getOffset(first, last);
      if (offset !== undefined) hunks.push({ ...part, start: part.start + offset, end: part.end + offset });
      else if (!isMade(part)) return undefined;
    }
    return hunks;
  };

  return {
    place(hunk, { start, end }) {
      const offset = alignment.getOffset(start, end - 1);
      if (offset !== undefined) {
        return { hunks: [{ ...hunk, start: hunk.start + offset, end: hunk.end + offset }], way: "moved" };
      }
      if (hunk.start === hunk.end) return isMade(hunk) ? { hunks: [], way: "merged" } : undefined;
      const hunks = merge(hunk);
      return hunks && { hunks, way: "merged" };
    },
    guess: (line) => alignment.guess(line),
  };
}

/** The lines that a hunk certainly keeps are no part of it. */
function smallest(hunk: Hunk, before: readonly string[], effort: Effort): Hunk[] {
  const positions = matchLines(before.slice(hunk.start, hunk.end), hunk.lines, effort);
  if (!positions) return [hunk];
  const hunks: Hunk[] = [];
  let [line, done] = [0, 0];
  const cut = (index: number, position: number) => {
    if (index > line || position > done) {
      hunks.push({ start: hunk.start + line, end: hunk.start + index, lines: hunk.lines.slice(done, position) });
    }
    [line, done] = [index + 1, position + 1];
  };
  for (const [index, position] of positions.entries()) if (position >= 0) cut(index, position);
  cut(positions.length, hunk.lines.length);
  return hunks;
}
