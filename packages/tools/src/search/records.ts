/** Parses ripgrep's output as it comes. A name may hold anything but a zero byte, and a line may never end. */

export type SearchRecord =
  | { kind: "match" | "context"; path: string; line: number; text: string }
  /** The file is binary, and something in it matches. */
  | { kind: "binary"; path: string };

/** No path is longer, and no more of a line is ever shown; the rest is dropped. */
const maxPathBytes = 64 * 1024;
const maxTextBytes = 4 * 1024;

const [zero, lineFeed] = [0x00, 0x0a];
const binaryNotice = /^(.*?): binary file matches \(found "\\0" byte around offset \d+\)\n/s;

interface RecordParser {
  /** The records that are complete by now. */
  push(chunk: Buffer): SearchRecord[];
}

/** Reads `PATH NUL LINE:TEXT LF` for matches and `PATH NUL LINE-TEXT LF` for context. */
export function createRecordParser(): RecordParser {
  let pending = Buffer.alloc(0);
  let isInLongLine = false;
  return {
    push(chunk) {
      const records: SearchRecord[] = [];
      let from = 0;
      if (isInLongLine) {
        const end = chunk.indexOf(lineFeed);
        if (end < 0) return records;
        isInLongLine = false;
        from = end + 1;
      }
      const data = pending.length > 0 ? Buffer.concat([pending, chunk]) : chunk;
      for (;;) {
        const pathEnd = data.indexOf(zero, from);
        const notice = noticeIn(data.subarray(from, pathEnd < 0 ? data.length : pathEnd));
        if (notice) {
          records.push({ kind: "binary", path: notice.path });
          from += notice.bytes;
          continue;
        }
        if (pathEnd < 0) break;
        const end = data.indexOf(lineFeed, pathEnd + 1);
        isInLongLine = end < 0 && data.length - pathEnd > maxTextBytes;
        if (end < 0 && !isInLongLine) break;
        const stop = end < 0 ? data.length : end;
        records.push(toRecord(data.subarray(from, pathEnd), data.subarray(pathEnd + 1, stop)));
        from = stop + 1;
        if (isInLongLine) break;
      }
      // A copy: a view of it would keep all of it in memory.
      pending = Buffer.from(data.subarray(from).subarray(0, maxPathBytes + maxTextBytes));
      return records;
    },
  };
}

function noticeIn(data: Buffer): { path: string; bytes: number } | undefined {
  // Hardly any path has a line break, and without one it cannot be a notice.
  if (!data.includes(lineFeed)) return undefined;
  const [all, path] = binaryNotice.exec(data.subarray(0, maxPathBytes).toString("latin1")) ?? [];
  return all === undefined ? undefined : { path: Buffer.from(path!, "latin1").toString("utf8"), bytes: all.length };
}

function toRecord(path: Buffer, rest: Buffer): SearchRecord {
  const head = rest.toString("utf8", 0, maxTextBytes);
  const digits = /^\d+/.exec(head)?.[0] ?? "";
  return {
    kind: head[digits.length] === ":" ? "match" : "context",
    path: path.toString("utf8"),
    line: Number(digits),
    text: head.slice(digits.length + 1).replace(/\r$/, ""),
  };
}
