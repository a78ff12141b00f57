/** Reads lines of a file that may be larger than memory: it keeps only the lines that are shown. */
import { ToolsError } from "../errors.ts";
import type { ReadableFile } from "../platform/files.ts";
import { countLines } from "../truncate.ts";
import { refuseAborted } from "./abort.ts";

export interface LineWindow {
  /** The lines without their line breaks, from `firstLine` on. */
  lines: string[];
  firstLine: number;
  /** Whether the file continues after them, or after a line that is too long. Undefined where that did not end yet. */
  hasMore: boolean | undefined;
  /** How many lines there are in all, where that is known: when the end was reached. */
  totalLines: number | undefined;
  /** The next line was too long to be shown at all: its number and its size in bytes, or how many bytes were read. */
  tooLong: { line: number; bytes: number } | undefined;
}

const chunkBytes = 64 * 1024;
const lineFeed = 0x0a;

interface LineRange {
  /** The first line, 1-based. */
  offset: number;
  maxLines: number;
  maxBytes: number;
  /** Looking for a far line takes as long as reading up to it. */
  signal?: AbortSignal | undefined;
}

/**
 * At most `maxLines` whole lines from line `offset` on, and `maxBytes` bytes of them as they are shown: a byte that is
 * not UTF-8 shows as three.
 */
export async function readLines(
  file: Pick<ReadableFile, "read">,
  { offset, maxLines, maxBytes, signal }: LineRange,
): Promise<LineWindow> {
  const buffer = Buffer.allocUnsafe(chunkBytes);
  const lines: string[] = [];
  let current: Buffer[] = [];
  let currentBytes = 0;
  let shownBytes = 0;
  let line = 1;
  /** Whether the last line has any content: an empty one is only the end of the line before. */
  let isBegun = false;
  /** Adds the current line. False when it does not fit. */
  const take = (): boolean => {
    const text = getText(current);
    currentBytes = Buffer.byteLength(text);
    if (shownBytes + currentBytes > maxBytes) return false;
    lines.push(text);
    shownBytes += currentBytes + 1;
    current = [];
    currentBytes = 0;
    return true;
  };
  /** The window without the current line. `next` is where the line after it begins, if that was read. */
  const full = async (next?: number): Promise<LineWindow> => {
    const shown = { lines, firstLine: offset, totalLines: undefined };
    if (lines.length > 0) return { ...shown, hasMore: true, tooLong: undefined };
    const hasMore = next === undefined ? undefined : await hasByte(file, next);
    return { ...shown, hasMore, tooLong: { line, bytes: currentBytes } };
  };
  let position = 0;
  for (;;) {
    refuseAborted(signal);
    const count = await file.read(buffer, position);
    if (count === 0) break;
    position += count;
    const chunk = buffer.subarray(0, count);
    for (let from = 0; from < count;) {
      const end = chunk.indexOf(lineFeed, from);
      const until = end < 0 ? count : end;
      const next = end < 0 ? undefined : position - count + end + 1;
      isBegun = end < 0;
      if (line >= offset) {
        currentBytes += until - from;
        // Only a CR at the end of a line is not shown: with two bytes too many it cannot fit.
        if (shownBytes + currentBytes > maxBytes + 1) return await full(next);
        const part = chunk.subarray(from, until);
        // Copied where the line continues, because the next chunk is read into the same buffer.
        current.push(end < 0 ? Buffer.from(part) : part);
      }
      if (end < 0) break;
      if (line >= offset && !take()) return await full(next);
      line++;
      from = end + 1;
      if (lines.length === maxLines) return await getWindow(file, lines, offset, position - count + from, line);
    }
  }
  const totalLines = isBegun ? line : line - 1;
  if (isBegun && line >= offset && !take()) return { ...(await full(position)), totalLines };
  return { lines, firstLine: offset, hasMore: false, totalLines, tooLong: undefined };
}

function getText(parts: readonly Buffer[]): string {
  const text = (parts.length === 1 ? parts[0]! : Buffer.concat(parts)).toString("utf8");
  return text.endsWith("\r") ? text.slice(0, -1) : text;
}

/** The window when all lines were found: only whether anything follows has to be read. */
async function getWindow(
  file: Pick<ReadableFile, "read">,
  lines: string[],
  firstLine: number,
  position: number,
  nextLine: number,
): Promise<LineWindow> {
  const hasMore = await hasByte(file, position);
  return { lines, firstLine, hasMore, totalLines: hasMore ? undefined : nextLine - 1, tooLong: undefined };
}

const hasByte = async (file: Pick<ReadableFile, "read">, position: number): Promise<boolean> =>
  (await file.read(Buffer.allocUnsafe(1), position)) > 0;

/** Throws when a file has no line `offset`; an empty file can be shown from line 1. */
export function refuseBeyond(offset: number, total: number): void {
  if (offset <= Math.max(1, total)) return;
  const text = `Line ${offset} is beyond the end of the file, which has ${countLines(total)}.`;
  throw new ToolsError("invalid_input", text);
}
