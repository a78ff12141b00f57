/** One line of a log: an entry as bytes and back, with a checksum that tells a damaged line from a whole one. */
import { crc32 } from "node:zlib";
import { getErrorMessage } from "@tau/ai";
import { HarnessError } from "../errors.ts";

/** The longest line that is written, and that is looked at as one. Twice as many bytes no longer fit into one text. */
export const maxLineBytes = 256 * 1024 * 1024;

/** `,"crc":"` and eight digits and `"}`, at the end of a line. */
const crcStart = Buffer.from(',"crc":"');
const crcLength = crcStart.length + 8 + 2;

/**
 * The line for a value, with its checksum and its line feed. What JSON cannot say is said in words; only what could not
 * be read again, because it is too long, is refused.
 */
export function encodeLine(value: object): Buffer {
  const start = stringify(withoutChecksum(value)).slice(0, -1);
  // A character has at most three bytes: nearly always that is enough to know.
  const length = start.length * 3 < maxLineBytes ? start.length : Buffer.byteLength(start);
  if (length + crcLength > maxLineBytes) throw tooLong(length);
  return Buffer.from(`${start},"crc":"${hex(crc32(start))}"}\n`);
}

const megabytes = (bytes: number) => Math.ceil(bytes / 1024 / 1024);

const tooLong = (length: number) =>
  new HarnessError(
    "invalid_input",
    `An entry of ${megabytes(length)} MB is too large for a session: the most is ${megabytes(maxLineBytes)} MB. Nothing was written; put what is large into a file and name the file.`,
  );

/** A checksum that came from another line says nothing of this one. */
export function withoutChecksum<Line extends object>(line: Line): Line {
  if (!("crc" in line)) return line;
  const { crc: _, ...others } = line;
  return others as Line;
}

const hex = (number: number) => number.toString(16).padStart(8, "0");

/** What a line's checksum says. `missing`: it has none, as lines of other writers; `broken`: it has one that is no checksum. */
export type Checksum = "right" | "wrong" | "missing" | "broken";

export function readChecksum(line: Buffer): Checksum {
  const at = line.length - crcLength;
  if (at < 1 || line[line.length - 1] !== 0x7d) return "missing";
  const given = readHex(line, at + crcStart.length);
  const isNamed =
    line[at] === 0x2c &&
    line[line.length - 2] === 0x22 &&
    line.compare(crcStart, 0, crcStart.length, at, at + crcStart.length) === 0;
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

function stringify(value: object): string {
  let reason = "it is no object";
  try {
    const json: string | undefined = JSON.stringify(value);
    if (json?.startsWith("{")) return json;
  } catch (error) {
    // A circle, a BigInt, a depth without end, a `toJSON` that throws: an entry with words in it beats none.
    [reason = ""] = getErrorMessage(error).split("\n");
  }
  return JSON.stringify(inWords(value, reason));
}

/** How deep a value may be nested to be written as it is. JSON itself gives up at a few thousand. */
const deepest = 200;
/** How much of a value is written, in values and in characters: a web of circles has no end. */
const maxValues = 100_000;
const maxTextLength = 64 * 1024 * 1024;

/** The fields of a value, with words for those that JSON cannot say. */
function inWords(value: object, reason: string): object {
  const above = new Set<object>();
  let [values, text] = [0, 0];
  const plain = (item: unknown): unknown => {
    if (typeof item === "bigint") return item.toString();
    if (typeof item === "function") return undefined;
    if (typeof item === "string") text += item.length;
    const isTooMuch = ++values > maxValues || text > maxTextLength;
    if (typeof item !== "object" || item === null) return isTooMuch ? leftOut(reason) : item;
    if (isTooMuch || above.size > deepest || above.has(item)) return leftOut(reason);
    above.add(item);
    try {
      if ("toJSON" in item && typeof item.toJSON === "function") return plain(item.toJSON());
      return Array.isArray(item) ? item.map(plain) : toFields(item);
    } catch (error) {
      return leftOut(getErrorMessage(error));
    } finally {
      above.delete(item);
    }
  };
  const read = (item: object, name: string): unknown => {
    try {
      return plain(item[name as keyof typeof item]);
    } catch (error) {
      return leftOut(getErrorMessage(error));
    }
  };
  const toFields = (item: object) => Object.fromEntries(Object.keys(item).map((name) => [name, read(item, name)]));
  return toFields(value);
}

const leftOut = (reason: string) => `(left out: ${reason})`;
