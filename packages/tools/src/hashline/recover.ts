/** Finding lines again in a text that changed. Rather not at all than in the wrong place. Pure. */
import { alignLines, matchLines } from "./align.ts";
import type { Hunk } from "./apply.ts";
import type { Effort } from "./certain.ts";

/** Where a hunk goes in the text of now; the ways differ in what is reported. */
export interface Placement {
  hunks: Hunk[];
  way: "moved" | "merged";
}

export interface Relocator {
  /** A hunk on the text of before as hunks on the text of now. Insertions have the line they adjoin in `anchor`. */
  place(hunk: Hunk, anchor: { start: number; end: number }): Placement | undefined;
  /** Roughly where a line is now, for showing the spot. */
  guess(line: number): number;
}

/** What all comparisons of one call may cost: a few milliseconds. What would cost more is not recovered. */
export const maxEffort = 300_000;

/** A line is known again by its surroundings: all lines from a pin above it to a pin below it are there, unchanged. */
export function createRelocator(before: readonly string[], now: readonly string[], effort: Effort): Relocator {
  const alignment = alignLines(before, now, effort);

  /** Whether exactly this change was already made by somebody else. */
  const isMade = ({ start, end, lines }: Hunk): boolean => {
    const above = alignment.offsetFrom(start - 1, "above");
    const below = alignment.offsetFrom(end, "below");
    if (above === undefined || below === undefined || below - above !== lines.length - (end - start)) return false;
    return lines.every((line, at) => now[start + above + at] === line);
  };

  /** A change as small as it can be, line by line, as in a merge of three texts. */
  const merge = (hunk: Hunk): Hunk[] | undefined => {
    const hunks: Hunk[] = [];
    for (const part of smallest(hunk, before, effort)) {
      // What is inserted between two lines needs both.
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
  const places = matchLines(before.slice(hunk.start, hunk.end), hunk.lines, effort);
  if (!places) return [hunk];
  const hunks: Hunk[] = [];
  let [line, done] = [0, 0];
  const cut = (at: number, place: number) => {
    if (at > line || place > done) {
      hunks.push({ start: hunk.start + line, end: hunk.start + at, lines: hunk.lines.slice(done, place) });
    }
    [line, done] = [at + 1, place + 1];
  };
  for (const [at, place] of places.entries()) if (place >= 0) cut(at, place);
  cut(places.length, hunk.lines.length);
  return hunks;
}
