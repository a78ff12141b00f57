/** Reads the directory of a zip archive, and single members. No number in the file is trusted. */
import { setImmediate } from "node:timers/promises";
import { crc32 } from "node:zlib";
import { ToolsError } from "../errors.ts";
import { formatBytes } from "../truncate.ts";
import { type ArchiveMember, damagedArchive, decodeMemberName, maxMembers } from "./archive-member.ts";
import { readAt, readChunks, type RandomAccess } from "./byte-source.ts";
import { inflateChunks, refuseBomb } from "./inflate.ts";

interface ZipMember extends ArchiveMember {
  rawName: Buffer;
  method: number;
  isEncrypted: boolean;
  checksum: number;
  packedSize: number;
  /** Where its local header is in the file. */
  offset: number;
}

interface ZipDirectory {
  members: readonly ZipMember[];
  /** Sentences about what is wrong or left out. */
  notes: readonly string[];
}

const signatures = { local: 0x04034b50, entry: 0x02014b50, end: 0x06054b50, end64: 0x06064b50, locator: 0x07064b50 };
const endBytes = 22;
const locatorBytes = 20;
const maxCommentBytes = 0xffff;
const entryBytes = 46;
const localBytes = 30;
const maxDirectoryBytes = 32 * 1024 * 1024;

/** Where the directory is. */
interface DirectoryEnd {
  count: number;
  size: number;
  /** From the beginning of the archive, which may come after something else, such as a program that unpacks it. */
  offset: number;
  /** Where the directory ends in the file. */
  end: number;
}

export async function readZipDirectory(file: RandomAccess, path: string): Promise<ZipDirectory> {
  const { count, size, offset, end } = await findEnd(file, path);
  const notes: string[] = [];
  const shift = end - size - offset;
  if (shift < 0) throw damagedArchive(path, "its directory is not where it says");
  const bytes = await readAt(file, offset + shift, Math.min(size, maxDirectoryBytes));
  const members: ZipMember[] = [];
  let position = 0;
  while (position + entryBytes <= bytes.length && members.length < maxMembers) {
    const member = readEntry(bytes, position, shift);
    if (!member) break;
    members.push(member);
    position = member.next;
    // Many members take long.
    if (members.length % 5_000 === 0) await setImmediate();
  }
  if (members.length === maxMembers && position < bytes.length)
    notes.push(`Only the first ${maxMembers.toLocaleString("en-US")} members are listed.`);
  else if (size > maxDirectoryBytes)
    notes.push(`Its directory is larger than ${formatBytes(maxDirectoryBytes)}: only the beginning is listed.`);
  else if (members.length !== count)
    notes.push(`It is damaged: it says that it has ${count} members, and ${members.length} can be read.`);
  return { members, notes };
}

async function findEnd(file: RandomAccess, path: string): Promise<DirectoryEnd> {
  const length = Math.min(file.size, endBytes + maxCommentBytes + locatorBytes);
  const start = file.size - length;
  const tail = await readAt(file, start, length);
  for (let index = tail.length - endBytes; index >= 0; index--) {
    if (tail.readUInt32LE(index) !== signatures.end) continue;
    if (index + endBytes + tail.readUInt16LE(index + 20) > tail.length) continue;
    const disks = [tail.readUInt16LE(index + 4), tail.readUInt16LE(index + 6)];
    const found: DirectoryEnd = {
      count: tail.readUInt16LE(index + 10),
      size: tail.readUInt32LE(index + 12),
      offset: tail.readUInt32LE(index + 16),
      end: start + index,
    };
    const locator = index - locatorBytes;
    if (locator >= 0 && tail.readUInt32LE(locator) === signatures.locator)
      return await readEnd64(file, path, { locatorAt: start + locator, offset: readInteger(tail, locator + 8) });
    if (disks.some((disk) => disk !== 0)) throw damagedArchive(path, "it is one of several parts");
    return found;
  }
  throw damagedArchive(path, "its directory is missing, as where a file was cut off");
}

/** The record stands right before its locator, also where something was put before the archive. */
async function readEnd64(
  file: RandomAccess,
  path: string,
  { locatorAt, offset }: { locatorAt: number; offset: number },
): Promise<DirectoryEnd> {
  for (const position of [offset, locatorAt - 56]) {
    if (!(position >= 0 && position + 56 <= locatorAt)) continue;
    const record = await readAt(file, position, 56);
    if (record.length < 56 || record.readUInt32LE(0) !== signatures.end64) continue;
    const [count, size, directory] = [32, 40, 48].map((index) => readInteger(record, index)) as [
      number,
      number,
      number,
    ];
    return { count, size, offset: directory, end: position };
  }
  throw damagedArchive(path, "the directory of its large files is missing");
}

/** A number of 64 bits. One that no file has is as good as infinite. */
function readInteger(bytes: Buffer, index: number): number {
  const value = bytes.readBigUInt64LE(index);
  return value > BigInt(Number.MAX_SAFE_INTEGER) ? Number.POSITIVE_INFINITY : Number(value);
}

/** Undefined where no entry begins. */
function readEntry(bytes: Buffer, position: number, shift: number): (ZipMember & { next: number }) | undefined {
  if (bytes.readUInt32LE(position) !== signatures.entry) return undefined;
  const [nameLength, extraLength, commentLength] = [28, 30, 32].map((index) =>
    bytes.readUInt16LE(position + index),
  ) as [number, number, number];
  const nameEnd = position + entryBytes + nameLength;
  const next = nameEnd + extraLength + commentLength;
  if (next > bytes.length) return undefined;
  const rawName = bytes.subarray(position + entryBytes, nameEnd);
  const name = decodeMemberName(rawName);
  const large = readLarge(bytes.subarray(nameEnd, nameEnd + extraLength), {
    size: bytes.readUInt32LE(position + 24),
    packedSize: bytes.readUInt32LE(position + 20),
    offset: bytes.readUInt32LE(position + 42),
  });
  const isEncrypted = (bytes.readUInt16LE(position + 8) & 1) === 1;
  const kind = getKind(name, bytes.readUInt8(position + 5), bytes.readUInt32LE(position + 38));
  return {
    name,
    rawName,
    kind,
    size: large.size,
    packedSize: large.packedSize,
    offset: large.offset + shift,
    method: bytes.readUInt16LE(position + 10),
    checksum: bytes.readUInt32LE(position + 16),
    isEncrypted,
    modified: formatDosTime(bytes.readUInt16LE(position + 14), bytes.readUInt16LE(position + 12)),
    remark: isEncrypted ? "encrypted" : kind === "link" ? "a link" : undefined,
    next,
  };
}

interface Large {
  size: number;
  packedSize: number;
  offset: number;
}

const isInExtra = 0xffff_ffff;

/** Numbers that do not fit into 32 bits are in a field of their own, in this order. */
function readLarge(extra: Buffer, small: Large): Large {
  for (let index = 0; index + 4 <= extra.length;) {
    const [tag, length] = [extra.readUInt16LE(index), extra.readUInt16LE(index + 2)];
    const field = extra.subarray(index + 4, index + 4 + length);
    index += 4 + length;
    if (tag !== 1) continue;
    let next = 0;
    const read = (value: number): number => {
      if (value !== isInExtra || next + 8 > field.length) return value;
      next += 8;
      return readInteger(field, next - 8);
    };
    const [size, packedSize] = [read(small.size), read(small.packedSize)];
    return { size, packedSize, offset: read(small.offset) };
  }
  return small;
}

const unix = 3;
const [kindBits, linkBits] = [0o170000, 0o120000];

function getKind(name: string, system: number, attributes: number): ArchiveMember["kind"] {
  if (name.endsWith("/")) return "directory";
  return system === unix && ((attributes >>> 16) & kindBits) === linkBits ? "link" : "file";
}

/** Formats a time, whose zone the archive does not say. */
function formatDosTime(date: number, time: number): string | undefined {
  if (date === 0) return undefined;
  const two = (value: number) => String(value).padStart(2, "0");
  const day = `${1980 + (date >> 9)}-${two((date >> 5) & 15)}-${two(date & 31)}`;
  return `${day} ${two(time >> 11)}:${two((time >> 5) & 63)}`;
}

const [stored, deflated] = [0, 8];
const methods: Readonly<Record<number, string>> = {
  9: "Deflate64",
  12: "bzip2",
  14: "LZMA",
  93: "Zstandard",
  95: "XZ",
};

/** The bytes of a member, and what is wrong with them. */
export async function readZipMember(
  file: RandomAccess,
  member: ZipMember,
  { name, path, signal }: { name: string; path: string; signal: AbortSignal | undefined },
): Promise<{ bytes: Buffer; notes: string[] }> {
  const { method, packedSize, size, offset, isEncrypted, rawName, checksum } = member;
  if (isEncrypted)
    throw new ToolsError("binary", `${name} is encrypted: its content needs a password. Unpack it with bash.`);
  if (method !== stored && method !== deflated) {
    const what = methods[method] ?? `method ${method}`;
    throw new ToolsError("binary", `${name} is packed with ${what}, which cannot be read here. Unpack it with bash.`);
  }
  const local = await readAt(file, offset, localBytes + rawName.length);
  const isLocal = local.length === localBytes + rawName.length && local.readUInt32LE(0) === signatures.local;
  if (!isLocal || local.readUInt16LE(26) !== rawName.length || !local.subarray(localBytes).equals(rawName))
    throw damagedArchive(path, `${name} is not where its directory says`);
  const start = offset + localBytes + rawName.length + local.readUInt16LE(28);
  if (!(start + packedSize <= file.size)) throw damagedArchive(path, `${name} ends after the archive does`);
  const packed = readChunks(file, start, start + packedSize);
  if (method === stored) refuseBomb({ packedBytes: packedSize, unpackedBytes: packedSize }, name);
  const unpacked = method === stored ? packed : inflateChunks(packed, { kind: "raw", name, signal });
  const bytes = await collect(unpacked);
  const notes: string[] = [];
  if (bytes.length !== size)
    notes.push(`The archive says that it has ${formatBytes(size)}; it has ${formatBytes(bytes.length)}.`);
  else if (crc32(bytes) !== checksum) notes.push("Its checksum is wrong: it is damaged.");
  return { bytes, notes };
}

/** The pieces together: they are bounded by those who make them. */
async function collect(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const all: Buffer[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return all.length === 1 ? all[0]! : Buffer.concat(all);
}
