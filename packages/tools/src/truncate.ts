/** Cuts long texts to what a model is shown. Whole lines only. Pure. */

export const defaultMaxLines = 2_000;
export const defaultMaxBytes = 50 * 1024;

interface Truncation {
  text: string;
  /** Lines that are shown, and lines there were. */
  shownLines: number;
  totalLines: number;
  /** The limit that was exceeded; undefined when nothing is missing. */
  by: "lines" | "bytes" | undefined;
}

interface TruncationLimits {
  maxLines?: number;
  maxBytes?: number;
}

/** Keeps the beginning. Keeps nothing when the first line alone is too long: the caller must say so. */
export function keepHead(text: string, limits: TruncationLimits = {}): Truncation {
  return keep(text, limits, "head");
}

/** Keeps the end. */
export function keepTail(text: string, limits: TruncationLimits = {}): Truncation {
  return keep(text, limits, "tail");
}

function keep(text: string, limits: TruncationLimits, from: "head" | "tail"): Truncation {
  const { maxLines = defaultMaxLines, maxBytes = defaultMaxBytes } = limits;
  const lines = text.split("\n");
  const totalLines = lines.length;
  const kept: string[] = [];
  let bytes = 0;
  let by: Truncation["by"];
  for (let index = 0; index < totalLines; index++) {
    const line = lines[from === "head" ? index : totalLines - 1 - index]!;
    const size = Buffer.byteLength(line) + (kept.length > 0 ? 1 : 0);
    if (kept.length >= maxLines) by = "lines";
    else if (bytes + size > maxBytes) by = "bytes";
    if (by) break;
    bytes += size;
    kept.push(line);
  }
  if (from === "tail") kept.reverse();
  return { text: kept.join("\n"), shownLines: kept.length, totalLines, by };
}

/** `1,234 lines`, `50.0 KB`. */
export const countLines = (count: number): string => `${count.toLocaleString("en-US")} line${count === 1 ? "" : "s"}`;

export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const units = ["KB", "MB", "GB", "TB"];
  const power = Math.min(units.length, Math.floor(Math.log(bytes) / Math.log(1024)));
  return `${(bytes / 1024 ** power).toFixed(1)} ${units[power - 1]}`;
}

/** How many line feeds there are. */
export function countBreaks(text: string): number {
  let count = 0;
  for (let index = text.indexOf("\n"); index >= 0; index = text.indexOf("\n", index + 1)) count++;
  return count;
}
