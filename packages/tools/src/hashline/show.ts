/** Showing lines with tags, and remembering that they were shown: what is not shown whole does not count as shown. */
import { ToolsError } from "../errors.ts";
import { countLines, formatBytes, mostBytes, mostLines } from "../truncate.ts";
import type { Hunk } from "./apply.ts";
import { renderHeader, renderRow } from "./format.ts";
import type { Span } from "./plan.ts";
import type { Snapshots } from "./snapshots.ts";
import { decodeText, type TextFile } from "./text.ts";

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
  { offset = 1, limit = mostLines }: { offset?: number; limit?: number } = {},
): HashlineView {
  const decoded = decodeText(file.bytes, file.given);
  const total = decoded.count;
  if (offset > Math.max(1, total)) {
    throw new ToolsError(
      "invalid_input",
      `Line ${offset} is beyond the end of the file, which has ${countLines(total)}.`,
    );
  }
  const span = { start: offset - 1, end: Math.min(total, offset - 1 + Math.min(limit, mostLines)) };
  const { text, rows } = showSpans(snapshots, { ...file, file: decoded, spots: [span] }, mostBytes);
  const next = offset + rows;
  const notice = noticeOf(next > total ? undefined : decoded.line(next - 1), { offset, next, rows, total });
  return { text: [text, notice].filter(Boolean).join("\n\n"), firstLine: offset, shownLines: rows, totalLines: total };
}

function noticeOf(
  line: string | undefined,
  { offset, next, rows, total }: { offset: number; next: number; rows: number; total: number },
): string {
  if (total === 0) return "(the file is empty)";
  if (line === undefined) return "";
  if (rows > 0) return `[Showing lines ${offset}-${next - 1} of ${total}. Go on with offset=${next}.]`;
  const size = formatBytes(Buffer.byteLength(line));
  return `[Line ${next} is too long to show: ${size}, the limit is ${formatBytes(mostBytes)}. Go on with offset=${next + 1}.]`;
}

interface Spots {
  given: string;
  realPath: string;
  file: TextFile;
  spots: readonly Span[];
  isCorrection?: boolean;
}

const around = 3;
const more = "[Not all of it is shown: read the rest with hashline: true.]";
const withNotice = ({ text, isCut }: { text: string; isCut: boolean }) => (isCut ? `${text}\n${more}` : text);

/** The lines at spots that a next try needs, and some around them. */
export function renderSpots(snapshots: Snapshots, { spots, ...rest }: Spots): string {
  const wide = widened(spots, rest.file.count, around);
  return withNotice(showSpans(snapshots, { ...rest, spots: wide, isCorrection: true }, mostBytes));
}

/** How many bytes of changed lines are shown again: enough to go on, not the whole of a large rewrite. */
const changesBytes = 8 * 1024;

/** The lines that hunks made, with some around them, in the text after them. */
export function renderChanges(
  snapshots: Snapshots,
  { given, realPath, file, hunks }: Omit<Spots, "spots"> & { hunks: readonly Hunk[] },
): string {
  let shift = 0;
  const spots = hunks.map(({ start, end, lines }) => {
    const span = { start: start + shift, end: start + shift + lines.length };
    shift += lines.length - (end - start);
    return span;
  });
  const spans = widened(spots, file.count, 2);
  return withNotice(showSpans(snapshots, { given, realPath, file, spots: spans }, changesBytes));
}

/** With lines around, inside the file, in order, those that meet made one. */
function widened(spots: readonly Span[], count: number, by: number): Span[] {
  const spans: Span[] = [];
  const clamp = (at: number) => Math.max(0, Math.min(count, at));
  for (const { start, end } of [...spots].sort((a, b) => a.start - b.start)) {
    const span = { start: clamp(Math.min(start, count - 1) - by), end: clamp(end + by) };
    const last = spans.at(-1);
    if (last && span.start <= last.end) last.end = Math.max(last.end, span.end);
    else spans.push(span);
  }
  return spans;
}

function showSpans(
  snapshots: Snapshots,
  { given, realPath, file, spots, isCorrection = false }: Spots,
  maxBytes: number,
): { text: string; rows: number; isCut: boolean } {
  const parts: string[] = [];
  let { tag } = snapshots.show({ path: realPath, text: file.text, firstLine: 1, lines: [] });
  let bytes = 0;
  let rows = 0;
  let isCut = false;
  for (const { start, end } of spots) {
    if (isCut) break;
    if (parts.length > 0) parts.push("...");
    const lines: string[] = [];
    let at = start;
    for (; at < end && rows < mostLines; at++, rows++) {
      const line = file.line(at);
      const row = renderRow(at + 1, line);
      bytes += Buffer.byteLength(row) + 1;
      if (bytes > maxBytes) break;
      parts.push(row);
      lines.push(line);
    }
    isCut = at < end;
    ({ tag } = snapshots.show({ path: realPath, text: file.text, firstLine: start + 1, lines, isCorrection }));
  }
  return { text: [renderHeader(given, tag), ...parts].join("\n"), rows, isCut };
}
