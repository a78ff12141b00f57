import { isRecord, tryParseJson } from "@tau/ai/internal";
import { readChecksum } from "@tau/harness/session";

const lineFeed = 0x0a;

/** The records of a file whose checksum is right, how many others there are, and where its last whole line ends. Pure. */
export function parseRecords(bytes: Buffer): { records: object[]; damaged: number; end: number } {
  const records: object[] = [];
  let damaged = 0;
  let start = 0;
  for (let end = bytes.indexOf(lineFeed); end >= 0; end = bytes.indexOf(lineFeed, start)) {
    const line = bytes.subarray(start, end);
    start = end + 1;
    const value = readChecksum(line) === "right" ? tryParseJson(line.toString("utf8")) : undefined;
    // A damaged record costs itself alone.
    if (!isRecord(value)) {
      damaged++;
      continue;
    }
    const { crc: _crc, ...record } = value;
    records.push(record);
  }
  return { records, damaged, end: start };
}
