/** Encodes an entry as a line of a log with a checksum, and verifies the checksum of a line. */
import { crc32 } from "node:zlib";
import { getErrorMessage } from "@tau/ai/internal";
import { HarnessError, withoutChecksum } from "@tau/protocol";

/** The length of the longest line that is written or parsed. A string cannot hold twice as many bytes. */
export const maxLineBytes = 256 * 1024 * 1024;

/** A line ends with `,"crc":"`, eight hex digits and `"}`. */
const crcStart = Buffer.from(',"crc":"');
const crcLength = crcStart.length + 8 + 2;

/**
 * The line for a value, with its checksum and its line feed. Values that JSON cannot express are replaced by a note.
 * Throws `invalid_input` only if the line is too long to be read again.
 */
export function encodeLine(value: object): Buffer {
  const start = stringify(withoutChecksum(value)).slice(0, -1);
  // A UTF-16 unit takes at most three bytes, so the bytes rarely need to be counted.
  const length = start.length * 3 < maxLineBytes ? start.length : Buffer.byteLength(start);
  if (length + crcLength > maxLineBytes) {
    const megabytes = (bytes: number) => `${Math.ceil(bytes / 1024 / 1024)} MB`;
    throw new HarnessError(
      "invalid_input",
      `An entry of ${megabytes(length)} is too large for a session: the limit is ${megabytes(maxLineBytes)}. Nothing was written. Save large content to a file and refer to the file.`,
    );
  }
  return Buffer.from(`${start},"crc":"${hexCrc(start)}"}\n`);
}

/** The CRC-32 as eight hex digits. */
export const hexCrc = (data: string | Buffer): string => crc32(data).toString(16).padStart(8, "0");

/** `missing`: the line has none, as lines of other programs. `broken`: the field itself is damaged. */
type Checksum = "right" | "wrong" | "missing" | "broken";

export function readChecksum(line: Buffer): Checksum {
  const start = line.length - crcLength;
  if (start < 1 || line[line.length - 1] !== 0x7d) return "missing";
  const expected = readHex(line, start + crcStart.length);
  const hasField =
    line[start] === 0x2c &&
    line[line.length - 2] === 0x22 &&
    line.compare(crcStart, 0, crcStart.length, start, start + crcStart.length) === 0;
  if (hasField) return expected === (crc32(line.subarray(0, start)) | 0) ? "right" : "wrong";
  // The damage may be in the name of the field.
  return expected !== undefined && expected === (crc32(line.subarray(0, start)) | 0) ? "broken" : "missing";
}

/** Eight hex digits as a signed 32-bit number; undefined if they are not hex digits. */
export function readHex(bytes: Buffer, offset: number): number | undefined {
  let number = 0;
  for (let index = offset; index < offset + 8; index++) {
    const byte = bytes[index]!;
    const digit = byte >= 0x30 && byte <= 0x39 ? byte - 0x30 : byte >= 0x61 && byte <= 0x66 ? byte - 0x57 : -1;
    if (digit < 0) return undefined;
    number = (number << 4) | digit;
  }
  return number;
}

function stringify(value: object): string {
  let reason = "it is not an object";
  try {
    const json: string | undefined = JSON.stringify(value);
    if (json?.startsWith("{")) return json;
  } catch (error) {
    // A cycle, a BigInt, too many levels or a `toJSON` that throws: an entry with notes in it is better than none.
    [reason = ""] = getErrorMessage(error).split("\n");
  }
  return JSON.stringify(toPlain(value, reason));
}

/** JSON itself gives up at a few thousand levels. */
const maxDepth = 200;
/** Objects that refer to each other have more paths through them than can be written. */
const maxValues = 100_000;
const maxTextLength = 64 * 1024 * 1024;

/** A copy of `value` with a note in the place of everything that JSON cannot express. */
function toPlain(value: object, reason: string): object {
  const ancestors = new Set<object>();
  let [valueCount, textLength] = [0, 0];
  const copy = (item: unknown): unknown => {
    if (typeof item === "bigint") return item.toString();
    if (typeof item === "function") return undefined;
    if (typeof item === "string") textLength += item.length;
    if (++valueCount > maxValues || textLength > maxTextLength) return omitted(reason);
    if (typeof item !== "object" || item === null) return item;
    if (ancestors.size > maxDepth || ancestors.has(item)) return omitted(reason);
    ancestors.add(item);
    try {
      if ("toJSON" in item && typeof item.toJSON === "function") return copy(item.toJSON());
      return Array.isArray(item) ? item.map(copy) : copyFields(item);
    } catch (error) {
      return omitted(getErrorMessage(error));
    } finally {
      ancestors.delete(item);
    }
  };
  const copyField = (item: object, name: string): unknown => {
    try {
      return copy(item[name as keyof typeof item]);
    } catch (error) {
      return omitted(getErrorMessage(error));
    }
  };
  const copyFields = (item: object) =>
    Object.fromEntries(Object.keys(item).map((name) => [name, copyField(item, name)]));
  return copyFields(value);
}

const omitted = (reason: string) => `(left out: ${reason})`;
