/** One line of a log: an entry as bytes and back, with a checksum that tells a damaged line from a whole one. */
import { crc32 } from "node:zlib";

/** `,"crc":"` and eight digits and `"}`, at the end of a line. */
const crcStart = Buffer.from(',"crc":"');
const crcLength = crcStart.length + 8 + 2;

/** The line for a value, with its checksum and its line feed. Never throws: what JSON cannot say is said in words. */
export function encodeLine(value: object): Buffer {
  const start = stringify(value).slice(0, -1);
  return Buffer.from(`${start},"crc":"${hex(crc32(start))}"}\n`);
}

const hex = (number: number) => number.toString(16).padStart(8, "0");

/** What a line's checksum says. `missing`: it has none, as lines of other writers; `broken`: it has one that is no checksum. */
export type Checksum = "right" | "wrong" | "missing" | "broken";

export function checksumOf(line: Buffer): Checksum {
  const at = line.length - crcLength;
  if (at < 1 || line[line.length - 1] !== 0x7d) return "missing";
  const given = readHex(line, at + crcStart.length);
  const isNamed = line[at] === 0x2c && line.compare(crcStart, 0, crcStart.length, at, at + crcStart.length) === 0;
  if (isNamed) return given === (crc32(line.subarray(0, at)) | 0) ? "right" : "wrong";
  // The field's own name may be what was damaged.
  return given !== undefined && given === (crc32(line.subarray(0, at)) | 0) ? "broken" : "missing";
}

/** Eight hex digits as 32 bits with a sign; undefined when they are none. */
export function readHex(bytes: Buffer, from: number): number | undefined {
  let number = 0;
  for (let at = from; at < from + 8; at++) {
    const byte = bytes[at]!;
    const digit = byte >= 0x30 && byte <= 0x39 ? byte - 0x30 : byte >= 0x61 && byte <= 0x66 ? byte - 0x57 : -1;
    if (digit < 0) return undefined;
    number = (number << 4) | digit;
  }
  return number;
}

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
