/** One line of a log: an entry as bytes and back, with a checksum that tells a damaged line from a whole one. */
import { crc32 } from "node:zlib";

/** `,"crc":"` and eight digits and `"}`, at the end of a line. */
const crcStart = Buffer.from(',"crc":"');
const crcLength = crcStart.length + 8 + 2;

/** The line for a value, with its checksum and its line feed. Never throws: what JSON cannot say is said in words. */
export function encodeLine(value: object): Buffer {
  const json = stringify(value);
  const start = Buffer.from(json.slice(0, -1));
  return Buffer.concat([start, Buffer.from(`,"crc":"${hex(crc32(start))}"}\n`)]);
}

const hex = (number: number) => number.toString(16).padStart(8, "0");

/** What a line's checksum says. `missing`: it has none, as lines of other writers; `broken`: it has one that is no checksum. */
export type Checksum = "right" | "wrong" | "missing" | "broken";

export function checksumOf(line: Buffer): Checksum {
  const at = line.length - crcLength;
  if (at < 1 || line[line.length - 1] !== 0x7d) return "missing";
  const isNamed = line.compare(crcStart, 0, crcStart.length, at, at + crcStart.length) === 0;
  const given = line.toString("latin1", at + crcStart.length, line.length - 2);
  if (isNamed) return hex(crc32(line.subarray(0, at))) === given ? "right" : "wrong";
  // The field's own name may be what was damaged.
  return isHex(given) && hex(crc32(line.subarray(0, at))) === given ? "broken" : "missing";
}

const isHex = (text: string) => /^[0-9a-f]{8}$/.test(text);

/** How deep a value may be nested to be written as it is. JSON itself gives up at a few thousand. */
const deepest = 200;

function stringify(value: object): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    // A circle, a BigInt, a depth without end, a `toJSON` that throws: an entry with words in it beats none.
    return JSON.stringify(plain(value, 0, error instanceof Error ? error.message : String(error)));
  }
}

function plain(value: unknown, depth: number, reason: string): unknown {
  if (typeof value === "bigint") return value.toString();
  if (typeof value !== "object" || value === null) return value;
  if (depth > deepest) return `(left out: ${reason})`;
  try {
    if (Array.isArray(value)) return value.map((item) => plain(item, depth + 1, reason));
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, plain(item, depth + 1, reason)]));
  } catch (error) {
    return `(left out: ${error instanceof Error ? error.message : String(error)})`;
  }
}
