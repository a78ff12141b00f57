/** The result of a read: lines, and how to get the others. Pure. */
import type { AgentToolResult } from "@tau/agent";
import { defaultMaxBytes, formatBytes } from "../truncate.ts";
import { type LineWindow, refuseBeyond } from "./lines.ts";

export interface ReadDetails {
  path: string;
  firstLine: number;
  shownLines: number;
  /** Known when the end of the file was reached. */
  totalLines?: number;
  /** Says what is counted where it is not lines. */
  unit?: "pages" | "rows";
}

/** The window of lines that need not all be made: `getLine` makes the one with this index. */
export function chooseLines(
  count: number,
  getLine: (index: number) => string,
  { offset, maxLines, maxBytes = defaultMaxBytes }: { offset: number; maxLines: number; maxBytes?: number },
): LineWindow {
  const lines: string[] = [];
  let bytes = 0;
  let tooLong: LineWindow["tooLong"];
  for (let index = offset - 1; index < count && lines.length < maxLines; index++) {
    const line = getLine(index);
    const size = Buffer.byteLength(line);
    if (bytes + size > maxBytes) {
      if (lines.length === 0) tooLong = { line: index + 1, bytes: size };
      break;
    }
    bytes += size + 1;
    lines.push(line);
  }
  const next = offset - 1 + lines.length + (tooLong ? 1 : 0);
  const hasMore = next < count;
  return { lines, firstLine: offset, hasMore, totalLines: hasMore ? undefined : count, tooLong };
}

/** `getHint` says how else a line can be seen that is too long to show. */
export function presentLines(
  window: LineWindow,
  path: string,
  { offset, getHint }: { offset: number; getHint?: (line: number) => string },
): AgentToolResult<ReadDetails> {
  const { lines, totalLines } = window;
  if (totalLines !== undefined) refuseBeyond(offset, totalLines);
  const notice = formatNotice(window, getHint);
  const text = [lines.join("\n"), notice].filter(Boolean).join("\n\n");
  return {
    content: [{ type: "text", text: totalLines === 0 ? "(the file is empty)" : text }],
    details: {
      path,
      firstLine: offset,
      shownLines: lines.length,
      ...(totalLines !== undefined && { totalLines }),
    },
  };
}

/** Describes what was left out, and how to get it. */
function formatNotice({ lines, firstLine, hasMore, tooLong }: LineWindow, getHint = (_line: number) => ""): string {
  if (tooLong) {
    const { line, bytes } = tooLong;
    const condition = hasMore ? "" : ", if the file has more lines";
    const next = hasMore === false ? "" : ` Continue with offset=${line + 1}${condition}.`;
    return `[Line ${line} is too long to show: ${formatBytes(bytes)} or more, the limit is ${formatBytes(defaultMaxBytes)}.${getHint(line)}${next}]`;
  }
  if (!hasMore) return "";
  const last = firstLine + lines.length - 1;
  return `[Showing lines ${firstLine}-${last}. Continue with offset=${last + 1}.]`;
}
