/** The pages of a SQLite database. Pure, and nothing in the file is trusted. */

interface DatabaseHeader {
  pageBytes: number;
}

export const databaseHeaderBytes = 100;

/** Undefined for what is no header. */
export function parseDatabaseHeader(bytes: Buffer): DatabaseHeader | undefined {
  if (bytes.length < databaseHeaderBytes) return undefined;
  const stated = bytes.readUInt16BE(16);
  const pageBytes = stated === 1 ? 65_536 : stated;
  const isPower = pageBytes >= 512 && (pageBytes & (pageBytes - 1)) === 0;
  return isPower ? { pageBytes } : undefined;
}

/** Reads a page of the database; undefined if there is none of this number. They are counted from 1. */
type ReadPage = (page: number) => Promise<Buffer | undefined>;

const maxSchemaPages = 5_000;
const maxSchemaCells = 20_000;
const maxSchemaBytes = 16 * 1024 * 1024;
const maxDefinitionBytes = 1024 * 1024;
const [interior, leaf] = [0x05, 0x0d];

/**
 * Says what is wrong with the tree of the definitions of tables; undefined if nothing is. SQLite follows it before anything else, and would
 * not come back from one that contains itself, nor from a definition of a gigabyte.
 */
export async function checkSchema(readPage: ReadPage): Promise<string | undefined> {
  const seen = new Set<number>();
  const waiting = [1];
  let [cells, bytes] = [0, 0];
  for (let number = waiting.pop(); number !== undefined; number = waiting.pop()) {
    if (seen.has(number)) return "a page of its definitions is used twice";
    seen.add(number);
    if (seen.size > maxSchemaPages) return "its definitions take too many pages";
    const page = await readPage(number);
    if (!page) return "a page of its definitions is missing";
    const start = number === 1 ? databaseHeaderBytes : 0;
    const kind = page[start];
    const count = page.readUInt16BE(start + 3);
    if (kind !== interior && kind !== leaf) return "a page of its definitions is of a wrong kind";
    const pointers = start + (kind === interior ? 12 : 8);
    if (pointers + 2 * count > page.length) return "a page of its definitions is damaged";
    cells += count;
    if (cells > maxSchemaCells) return "it has too many definitions";
    if (kind === interior) waiting.push(page.readUInt32BE(start + 8));
    for (let index = 0; index < count; index++) {
      const cell = page.readUInt16BE(pointers + 2 * index);
      if (cell + 4 > page.length) return "a page of its definitions is damaged";
      if (kind === interior) waiting.push(page.readUInt32BE(cell));
      else {
        const size = readVarint(page, cell);
        bytes += size;
        if (size > maxDefinitionBytes || bytes > maxSchemaBytes) return "its definitions are too large";
      }
    }
  }
  return undefined;
}

/** Seven bits in each byte, the highest first. One that is too long is as good as infinite. */
function readVarint(bytes: Buffer, index: number): number {
  let value = 0;
  for (let count = 0; count < 5; count++) {
    const byte = bytes[index + count];
    if (byte === undefined) break;
    value = value * 128 + (byte & 0x7f);
    if (byte < 0x80) return value;
  }
  return Number.POSITIVE_INFINITY;
}

export const logHeaderBytes = 32;
export const frameHeaderBytes = 24;

/** The log that is beside a database in write-ahead mode. */
interface LogHeader {
  pageBytes: number;
  salts: Buffer;
  isBigEndian: boolean;
  checksum: Checksum;
}

type Checksum = readonly [number, number];

/** Undefined for a log that holds nothing. */
export function parseLogHeader(bytes: Buffer): LogHeader | undefined {
  if (bytes.length < logHeaderBytes) return undefined;
  const magic = bytes.readUInt32BE(0);
  if (magic !== 0x377f_0682 && magic !== 0x377f_0683) return undefined;
  const isBigEndian = magic === 0x377f_0683;
  const checksum = addChecksum([0, 0], bytes.subarray(0, 24), isBigEndian);
  if (checksum[0] !== bytes.readUInt32BE(24) || checksum[1] !== bytes.readUInt32BE(28)) return undefined;
  return { pageBytes: bytes.readUInt32BE(8), salts: bytes.subarray(16, 24), isBigEndian, checksum };
}

interface LogFrame {
  page: number;
  /** The number of pages of the database after this change; 0 for a frame that does not end a change. */
  totalPages: number;
  checksum: Checksum;
}

/** Undefined for a frame that is not part of the log any more, or not yet. `previous` is the checksum of the frame before it. */
export function parseLogFrame(frame: Buffer, log: LogHeader, previous: Checksum): LogFrame | undefined {
  if (frame.length < frameHeaderBytes + log.pageBytes || !frame.subarray(8, 16).equals(log.salts)) return undefined;
  const head = addChecksum(previous, frame.subarray(0, 8), log.isBigEndian);
  const checksum = addChecksum(head, frame.subarray(frameHeaderBytes), log.isBigEndian);
  if (checksum[0] !== frame.readUInt32BE(16) || checksum[1] !== frame.readUInt32BE(20)) return undefined;
  return { page: frame.readUInt32BE(0), totalPages: frame.readUInt32BE(4), checksum };
}

function addChecksum([first, second]: Checksum, bytes: Buffer, isBigEndian: boolean): Checksum {
  const read = (index: number) => (isBigEndian ? bytes.readUInt32BE(index) : bytes.readUInt32LE(index));
  for (let index = 0; index + 8 <= bytes.length; index += 8) {
    first = (first + read(index) + second) >>> 0;
    second = (second + read(index + 4) + first) >>> 0;
  }
  return [first, second];
}
