/** Shows lines with tags, and remembers that they were shown. A line that is not shown whole does not count as shown. */
import { refuseBeyond } from "../files/lines.ts";
import { formatBytes, defaultMaxBytes, defaultMaxLines } from "../truncate.ts";
import type { Hunk } from "./apply.ts";
import { renderHeader, renderRow } from "./format.ts";
import type { Span } from "./plan.ts";
import { OutputBudget } from "./output-budget.ts";
import type { Snapshots } from "./snapshots.ts";
import type { TextFile } from "./text.ts";

interface HashlineView {
  text: string;
  firstLine: number;
  shownLines: number;
  totalLines: number;
}

/**
 * A file, or a part of it, as `read` shows it with `hashline`. `bytes` is the whole file: its tag is of all of it.
 * `limit` counts lines; the common limits hold besides.
 */
export function showHashline(
  snapshots: Snapshots,
  file: { typed: string; realPath: string; bytes: Uint8Array },
  { offset = 1, limit = defaultMaxLines }: { offset?: number; limit?: number } = {},
): HashlineView {
  const decoded = snapshots.decode(file.bytes, file.typed);
  const total = decoded.count;
  refuseBeyond(offset, total);
  const rows: string[] = [];
  const numbers: number[] = [];
  const budget = new OutputBudget();
  for (let index = offset - 1; index < Math.min(total, offset - 1 + limit); index++) {
    const row = renderRow(index + 1, decoded.line(index));
    if (!budget.take(row)) break;
    rows.push(row);
    numbers.push(index);
  }
  const { tag } = snapshots.show({ path: file.realPath, file: decoded, numbers });
  const next = offset + rows.length;
  const notice = formatNotice(next > total ? undefined : decoded.line(next - 1), { offset, next, total });
  const text = [renderHeader(file.typed, tag), ...rows].join("\n") + (notice && `\n\n${notice}`);
  return { text, firstLine: offset, shownLines: rows.length, totalLines: total };
}

function formatNotice(
  line: string | undefined,
  { offset, next, total }: { offset: number; next: number; total: number },
): string {
  if (total === 0) return "(the file is empty)";
  if (line === undefined) return "";
  if (next > offset) return `[Showing lines ${offset}-${next - 1} of ${total}. Continue with offset=${next}.]`;
  const size = formatBytes(Buffer.byteLength(line));
  return `[Line ${next} is too long to show: ${size}, the limit is ${formatBytes(defaultMaxBytes)}. Continue with offset=${next + 1}.]`;
}

interface Spots {
  /** The path as the model typed it. */
  typed: string;
  realPath: string;
  file: TextFile;
  spots: readonly Span[];
}

/** The lines that hunks made, with some around them, in the text after them. */
export function renderChanges(
  snapshots: Snapshots,
  { hunks, ...rest }: Omit<Spots, "spots"> & { hunks: readonly Hunk[] },
  budget: OutputBudget,
): string {
  let shift = 0;
  const spots = hunks.map(({ start, end, lines }) => {
    const span = { start: start + shift, end: start + shift + lines.length };
    shift += lines.length - (end - start);
    return span;
  });
  return showSpots(snapshots, { ...rest, spots, around: 2, isCorrection: false }, budget);
}

const gap = "...";
const more = "[Not all of it is shown: read the rest with hashline: true.]";

/** The lines at spots, and some around them. As a correction they replace what was shown under their numbers. */
export function showSpots(
  snapshots: Snapshots,
  { typed, realPath, file, spots, around, isCorrection }: Spots & { around: number; isCorrection: boolean },
  budget: OutputBudget,
): string {
  budget.take(`${renderHeader(typed, "0000")}\n${more}`);
  const { rows, numbers, isCut } = pickRows(file, spots, around, budget);
  const { tag } = snapshots.show({ path: realPath, file, numbers, isCorrection });
  const parts = [renderHeader(typed, tag)];
  let last: number | undefined;
  for (const [index, row] of [...rows].sort(([a], [b]) => a - b)) {
    if (last !== undefined && index > last + 1) parts.push(gap);
    parts.push(row);
    last = index;
  }
  return [...parts, ...(isCut ? [more] : [])].join("\n");
}

/** A line around a spot that is longer than this, in bytes, is left out, to leave the budget to the others. */
const maxAround = 1_000;

/**
 * Picks as many rows as the budget allows, by line: first those at the spots, then those around them. `numbers` are the
 * lines that are shown whole. Pure but for the budget.
 */
function pickRows(file: TextFile, spots: readonly Span[], around: number, budget: OutputBudget) {
  const rows = new Map<number, string>();
  const numbers: number[] = [];
  let isCut = false;
  const offer = ({ start, end }: Span, maxLineBytes: number, instead: string) => {
    for (let index = start; index < end && !(isCut && budget.isFull); index++) {
      if (rows.has(index)) continue;
      const size = file.getStart(index + 1) - file.getStart(index);
      const isLong = size > maxLineBytes;
      const row = isLong ? `${index + 1}: [${formatBytes(size)}, ${instead}]` : renderRow(index + 1, file.line(index));
      if (budget.take(row)) {
        rows.set(index, row);
        if (!isLong) numbers.push(index);
      } else {
        isCut = true;
        budget.take(gap);
      }
    }
  };
  for (const spot of widen(spots, file.count, 0)) {
    budget.take(gap);
    offer(spot, defaultMaxBytes, "too long to be shown, and so to be changed by its tag: use edit or bash");
  }
  for (const span of widen(spots, file.count, around)) offer(span, maxAround, "left out");
  return { rows, numbers, isCut };
}

/** The spots with lines around them, inside the file, in order; those that touch become one. */
function widen(spots: readonly Span[], count: number, by: number): Span[] {
  const spans: Span[] = [];
  const clamp = (index: number) => Math.max(0, Math.min(count, index));
  for (const { start, end } of [...spots].sort((a, b) => a.start - b.start)) {
    const span = { start: clamp(Math.min(start, count) - by), end: clamp(end + by) };
    const last = spans.at(-1);
    if (last && span.start <= last.end) last.end = Math.max(last.end, span.end);
    else spans.push(span);
  }
  return spans;
}
