/** The headers of tar archives: 512 bytes before each member. Pure. */
import { type ArchiveMember, decodeMemberName, formatMemberTime } from "./archive-member.ts";

export const blockBytes = 512;

export interface TarHeader {
  name: string;
  /** A character; `toTarMember` knows what it means. */
  type: string;
  size: number;
  modifiedSeconds: number;
  linkTarget: string;
  /** A sparse file, whose map continues in the next blocks. */
  hasMoreMap: boolean;
}

/** `end` for a block of zeros, undefined for one that is no header. */
export function parseTarHeader(block: Buffer): TarHeader | "end" | undefined {
  if (block.length < blockBytes) return undefined;
  if (block.every((byte) => byte === 0)) return "end";
  if (!hasChecksum(block)) return undefined;
  const size = readNumber(block.subarray(124, 136));
  if (size === undefined) return undefined;
  const type = String.fromCharCode(block[156] === 0 ? 0x30 : block[156]!);
  // The prefix of POSIX; GNU keeps something else there.
  const isPosix = block.toString("latin1", 257, 263) === "ustar\0";
  const prefix = isPosix ? readText(block.subarray(345, 500)) : "";
  const name = readText(block.subarray(0, 100));
  return {
    name: prefix === "" ? name : `${prefix}/${name}`,
    type,
    size,
    modifiedSeconds: readNumber(block.subarray(136, 148)) ?? 0,
    linkTarget: readText(block.subarray(157, 257)),
    hasMoreMap: type === "S" && block[482] === 1,
  };
}

/** The sum of all bytes, with blanks in the place of the sum itself. */
function hasChecksum(block: Buffer): boolean {
  const stated = readNumber(block.subarray(148, 156));
  let sum = 0;
  for (let index = 0; index < blockBytes; index++) sum += index >= 148 && index < 156 ? 0x20 : block[index]!;
  return stated === sum;
}

const readText = (field: Buffer): string => {
  const end = field.indexOf(0);
  return decodeMemberName(end < 0 ? field : field.subarray(0, end));
};

/** Octal digits or, for what is too large, the bytes of the number after a mark. Undefined for what is no size. */
function readNumber(field: Buffer): number | undefined {
  if ((field[0]! & 0x80) !== 0) {
    // Of a negative number the second bit is set too.
    if ((field[0]! & 0x40) !== 0) return undefined;
    const value = field.subarray(1).reduce((sum, byte) => sum * 256 + byte, field[0]! & 0x3f);
    return Number.isSafeInteger(value) ? value : undefined;
  }
  const digits = /^[\s\0]*([0-7]*)[\s\0]*$/.exec(field.toString("latin1"))?.[1];
  return digits === undefined ? undefined : digits === "" ? 0 : Number.parseInt(digits, 8);
}

/** The headers of POSIX with names and numbers of any length: lines of `LENGTH KEY=VALUE`. Undefined for anything else. */
export function parseTarRecords(bytes: Buffer): Map<string, string> | undefined {
  const records = new Map<string, string>();
  for (let index = 0; index < bytes.length;) {
    const blank = bytes.indexOf(0x20, index);
    const length = blank < 0 ? Number.NaN : Number(bytes.toString("latin1", index, blank));
    const line = bytes.subarray(blank + 1, index + length - 1);
    const equals = line.indexOf(0x3d);
    if (!Number.isInteger(length) || index + length > bytes.length || blank + 1 >= index + length || equals < 0)
      return undefined;
    records.set(line.toString("utf8", 0, equals), decodeMemberName(line.subarray(equals + 1)));
    index += length;
  }
  return records;
}

const isTarFile = (type: string): boolean => type === "0" || type === "7";

export function toTarMember({ name, type, size, modifiedSeconds, linkTarget }: TarHeader): ArchiveMember {
  const modified = formatMemberTime(modifiedSeconds);
  const isDirectory = type === "5" || (isTarFile(type) && name.endsWith("/"));
  if (isDirectory) return { name, kind: "directory", size: 0, modified, remark: undefined };
  if (type === "1" || type === "2") return { name, kind: "link", size: 0, modified, remark: `a link to ${linkTarget}` };
  if (isTarFile(type)) return { name, kind: "file", size, modified, remark: undefined };
  const remark =
    type === "S"
      ? "with holes"
      : type === "3" || type === "4"
        ? "a device"
        : type === "6"
          ? "a pipe"
          : "of another kind";
  return { name, kind: "other", size, modified, remark };
}
