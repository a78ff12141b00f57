/** Showing lines with tags, and remembering that they were shown: what is not shown whole does not count as shown. */
import { ToolsError } from "../errors.ts";
import { countLines, formatBytes, defaultMaxBytes, defaultMaxLines } from "../truncate.ts";
import type { Hunk } from "./apply.ts";
import { renderHeader, renderRow } from "./format.ts";
import type { Span } from "./plan.ts";
import { Room } from "./room.ts";
import type { Snapshots } from "./snapshots.ts";
import type { TextFile } from "./text.ts";

export interface HashlineView {
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
  file: { given: string; realPath: string; bytes: Uint8Array },
  { offset = 1, limit = defaultMaxLines }: { offset?: number; limit?: number } = {},
): HashlineView {
  const decoded = snapshots.decode(file.bytes, file.given);
  const total = decoded.count;
  if (offset > Math.max(1, total)) {
    throw new ToolsError(
      "invalid_input",
      `Line ${offset} is beyond the end of the file, which has ${countLines(total)}.`,
    );
  }
  const rows: string[] = [];
  const numbers: number[] = [];
  const room = new Room();
  for (let at = offset - 1; at < Math.min(total, offset - 1 + limit); at++) {
    const row = renderRow(at + 1, decoded.line(at));
    if (!room.take(row)) break;
    rows.push(row);
    numbers.push(at);
  }
  const { tag } = snapshots.show({ path: file.realPath, file: decoded, numbers });
  const next = offset + rows.length;
  const notice = formatNotice(next > total ? undefined : decoded.line(next - 1), { offset, next, total });
  const text = [renderHeader(file.given, tag), ...rows].join("\n") + (notice && `\n\n${notice}`);
  return { text, firstLine: offset, shownLines: rows.length, totalLines: total };
}

function formatNotice(
  line: string | undefined,
  { offset, next, total }: { offset: number; next: number; total: number },
): string {
  if (total === 0) return "(the file is empty)";
  if (line === undefined) return "";
  if (next > offset) return `[Showing lines ${offset}-${next - 1} of ${total}. Go on with offset=${next}.]`;
  const size = formatBytes(Buffer.byteLength(line));
  return `[Line ${next} is too long to show: ${size}, the limit is ${formatBytes(defaultMaxBytes)}. Go on with offset=${next + 1}.]`;
}

interface Spots {
  given: string;
  realPath: string;
  file: TextFile;
  spots: readonly Span[];
}

/** The lines at spots that a next try needs, and some around them. What was shown under their numbers is void. */
export function renderSpots(snapshots: Snapshots, spots: Spots, room: Room): string {
  return showSpots(snapshots, { ...spots, around: 3, isCorrection: true }, room);
}

/** The lines that hunks made, with some around them, in the text after them. */
export function renderChanges(
  snapshots: Snapshots,
  { hunks, ...rest }: Omit<Spots, "spots"> & { hunks: readonly Hunk[] },
  room: Room,
): string {
  let shift = 0;
  const spots = hunks.map(({ start, end, lines }) => {
    const span = { start: start + shift, end: start + shift + lines.length };
    shift += lines.length - (end - start);
    return span;
  });
  return showSpots(snapshots, { ...rest, spots, around: 2, isCorrection: false }, room);
}

const gap = "...";
const more = "[Not all of it is shown: read the rest with hashline: true.]";

function showSpots(
  snapshots: Snapshots,
  { given, realPath, file, spots, around, isCorrection }: Spots & { around: number; isCorrection: boolean },
  room: Room,
): string {
  room.take(`${renderHeader(given, "0000")}\n${more}`);
  const { rows, numbers, isCut } = pickRows(file, spots, around, room);
  const { tag } = snapshots.show({ path: realPath, file, numbers, isCorrection });
  const parts = [renderHeader(given, tag)];
  let last: number | undefined;
  for (const [at, row] of [...rows].sort(([a], [b]) => a - b)) {
    if (last !== undefined && at > last + 1) parts.push(gap);
    parts.push(row);
    last = at;
  }
  return [...parts, ...(isCut ? [more] : [])].join("\n");
}

/** A line around a spot that is longer than this, in bytes, is left out: what it tells is not worth its room. */
const maxAround = 1_000;

/**
 * As many rows as there is room for, by line: first those at the spots, which those around must not hide. `numbers` are
 * the lines that they show whole. Pure but for the room.
 */
function pickRows(file: TextFile, spots: readonly Span[], around: number, room: Room) {
  const rows = new Map<number, string>();
  const numbers: number[] = [];
  let isCut = false;
  const offer = ({ start, end }: Span, mostOfLine: number, instead: string) => {
    for (let at = start; at < end && !(isCut && room.isFull); at++) {
      if (rows.has(at)) continue;
      const size = file.getStart(at + 1) - file.getStart(at);
      const isLong = size > mostOfLine;
      const row = isLong ? `${at + 1}: [${formatBytes(size)}, ${instead}]` : renderRow(at + 1, file.line(at));
      if (room.take(row)) {
        rows.set(at, row);
        if (!isLong) numbers.push(at);
      } else {
        isCut = true;
        room.take(gap);
      }
    }
  };
  for (const spot of widened(spots, file.count, 0)) {
    room.take(gap);
    offer(spot, defaultMaxBytes, "too long to be shown, and so to be changed by its tag: use edit or bash");
  }
  for (const span of widened(spots, file.count, around)) offer(span, maxAround, "left out");
  return { rows, numbers, isCut };
}

/** With lines around, inside the file, in order, those that meet made one. */
function widened(spots: readonly Span[], count: number, by: number): Span[] {
  const spans: Span[] = [];
  const clamp = (at: number) => Math.max(0, Math.min(count, at));
  for (const { start, end } of [...spots].sort((a, b) => a.start - b.start)) {
    const span = { start: clamp(Math.min(start, count) - by), end: clamp(end + by) };
    const last = spans.at(-1);
    if (last && span.start <= last.end) last.end = Math.max(last.end, span.end);
    else spans.push(span);
  }
  return spans;
}
