/** Cuts long texts, with pi's report of what was cut. */
export const DEFAULT_MAX_LINES = 2_000;
export const DEFAULT_MAX_BYTES = 50 * 1024;
export const maxMatchLength = 500;

interface TruncationOptions {
  maxLines?: number;
  maxBytes?: number;
}

export interface TruncationResult {
  content: string;
  truncated: boolean;
  truncatedBy: "lines" | "bytes" | null;
  totalLines: number;
  totalBytes: number;
  outputLines: number;
  outputBytes: number;
  /** The end of a line that was too long alone is shown. */
  lastLinePartial: boolean;
  /** The first line was too long alone, so nothing is shown. */
  firstLineExceedsLimit: boolean;
  maxLines: number;
  maxBytes: number;
}

export function formatSize(bytes: number): string {
  if (bytes < 1024) return `${bytes}B`;
  return bytes < 1024 ** 2 ? `${(bytes / 1024).toFixed(1)}KB` : `${(bytes / 1024 ** 2).toFixed(1)}MB`;
}

/** Keeps the beginning, in whole lines. */
export const truncateHead = (content: string, options?: TruncationOptions): TruncationResult =>
  truncate(content, "head", options);

/** Keeps the end, in whole lines unless the last one is too long alone. */
export const truncateTail = (content: string, options?: TruncationOptions): TruncationResult =>
  truncate(content, "tail", options);

function truncate(
  content: string,
  kept: "head" | "tail",
  { maxLines = DEFAULT_MAX_LINES, maxBytes = DEFAULT_MAX_BYTES }: TruncationOptions = {},
): TruncationResult {
  const totalBytes = Buffer.byteLength(content);
  const lines = content.split("\n");
  const facts = { totalLines: lines.length, totalBytes, lastLinePartial: false, firstLineExceedsLimit: false };
  const limits = { maxLines, maxBytes };
  if (lines.length <= maxLines && totalBytes <= maxBytes) {
    return {
      content,
      truncated: false,
      truncatedBy: null,
      outputLines: lines.length,
      outputBytes: totalBytes,
      ...facts,
      ...limits,
    };
  }
  const { count, bytes, by } = countFitting(kept === "head" ? lines : lines.toReversed(), limits);
  const report = { truncated: true, truncatedBy: by, ...facts, ...limits };
  if (count === 0 && kept === "head") {
    return { ...report, content: "", outputLines: 0, outputBytes: 0, firstLineExceedsLimit: true };
  }
  if (count === 0) {
    const end = keepEnd(lines.at(-1) ?? "", maxBytes);
    return { ...report, content: end, outputLines: 1, outputBytes: Buffer.byteLength(end), lastLinePartial: true };
  }
  const shown = kept === "head" ? lines.slice(0, count) : lines.slice(-count);
  return { ...report, content: shown.join("\n"), outputLines: count, outputBytes: bytes };
}

function countFitting(lines: readonly string[], { maxLines, maxBytes }: Required<TruncationOptions>) {
  let bytes = 0;
  for (const [count, line] of lines.entries()) {
    if (count >= maxLines) return { count, bytes, by: "lines" as const };
    const size = Buffer.byteLength(line) + (count > 0 ? 1 : 0);
    if (bytes + size > maxBytes) return { count, bytes, by: "bytes" as const };
    bytes += size;
  }
  return { count: lines.length, bytes, by: "bytes" as const };
}

/** The last bytes, from the beginning of a character. */
function keepEnd(line: string, maxBytes: number): string {
  const bytes = Buffer.from(line);
  let start = Math.max(0, bytes.length - maxBytes);
  while (start < bytes.length && (bytes[start]! & 0xc0) === 0x80) start++;
  return bytes.subarray(start).toString("utf8");
}

export const truncateLine = (line: string, maxChars = maxMatchLength): { text: string; wasTruncated: boolean } =>
  line.length <= maxChars
    ? { text: line, wasTruncated: false }
    : { text: `${line.slice(0, maxChars).toWellFormed()}... [truncated]`, wasTruncated: true };
