import { isRecord, tryParseJson } from "@tau/ai/internal";
import { readChecksum } from "@tau/harness/session";

const lineFeed = 0x0a;

/** The records of a file whose checksum is right, and where its last whole line ends. Pure. */
export function parseRecords(bytes: Buffer): { records: object[]; end: number } {
  const records: object[] = [];
  let start = 0;
  for (let end = bytes.indexOf(lineFeed); end >= 0; end = bytes.indexOf(lineFeed, start)) {
    const line = bytes.subarray(start, end);
    start = end + 1;
    // A damaged record costs itself alone.
    if (readChecksum(line) !== "right") continue;
    const value = tryParseJson(line.toString("utf8"));
    if (!isRecord(value)) continue;
    const { crc: _crc, ...record } = value;
    records.push(record);
  }
  return { records, end: start };
}
