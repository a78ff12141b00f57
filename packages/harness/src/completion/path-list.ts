/**
 * Many paths in one array of bytes: they take less memory than strings, and are searched faster. It is filled with the
 * output of a command as it comes; the directories of each path are entries too, which share the bytes of the path.
 */
import { isUtf8 } from "node:buffer";

interface PathListLimits {
  /** Default 2,000,000. */
  maxPaths?: number;
  /** Default 64 Mi. */
  maxBytes?: number;
}

const slash = 0x2f;
const controlBit = 1 << 31;
const wideBit = 1 << 30;
const maxPathBytes = 0xffff;
const maxDepth = 0xff;
const firstPaths = 1_024;
const firstBytes = 64 * 1_024;

/** From a byte to the same in lower case. Only ASCII has cases here. */
export const lowerCase = Uint8Array.from({ length: 256 }, (_unused, byte) =>
  byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte,
);

/** From a byte to the bit of its kind: a path that lacks a bit of a query cannot match it. */
const kindBits = Int32Array.from({ length: 256 }, (_unused, byte) => {
  const lower = lowerCase[byte]!;
  if (byte < 0x20 || byte === 0x7f) return controlBit;
  if (byte >= 0x80) return wideBit;
  if (lower >= 0x61 && lower <= 0x7a) return 1 << (lower - 0x61);
  return byte >= 0x30 && byte <= 0x39 ? 1 << (26 + (byte & 1)) : 1 << 28;
});

/** The bits of all bytes in a range. */
export function getKindBits(bytes: Uint8Array, start: number, end: number): number {
  let bits = 0;
  for (let index = start; index < end; index++) bits |= kindBits[bytes[index]!]!;
  return bits;
}

/** A directory in the array of bytes, with the slash at its end. */
interface DirectoryRange {
  /** Counts from 1. 0 is the directory that is listed. */
  number: number;
  start: number;
  length: number;
  kinds: number;
  depth: number;
}

const noDirectory: DirectoryRange = { number: 0, start: 0, length: 0, kinds: 0, depth: 0 };

export class PathList {
  readonly #limits: Required<PathListLimits>;
  readonly #directories = new Map<string, DirectoryRange>();
  #bytes = Buffer.allocUnsafeSlow(firstBytes);
  #usedBytes = 0;
  /** Where the path begins that is not complete yet. */
  #openStart = 0;
  #entries = createEntries(firstPaths);
  #count = 0;
  /** The directory of the last path: most paths are in the same one. */
  #directory = noDirectory;

  constructor({ maxPaths = 2_000_000, maxBytes = 64 * 1_024 ** 2 }: PathListLimits = {}) {
    this.#limits = { maxPaths, maxBytes };
  }

  get count(): number {
    return this.#count;
  }

  /** For searching. Replaced when the list grows, as `entries` are. */
  get bytes(): Uint8Array {
    return this.#bytes;
  }

  get entries(): Entries {
    return this.#entries;
  }

  /** The largest number of a directory. */
  get directoryCount(): number {
    return this.#directories.size;
  }

  /** Whether a directory, with a slash at its end, is in the list. */
  hasDirectory(path: string): boolean {
    return this.#directories.has(Buffer.from(path).toString("latin1"));
  }

  /** A directory ends in a slash. */
  getPath(index: number): string {
    const start = this.#entries.starts[index]!;
    return this.#bytes.toString("utf8", start, start + this.#entries.lengths[index]!);
  }

  /**
   * Adds paths that each end in a zero byte. A chunk may end within one. Paths that cannot be written in a prompt are left
   * out: those with control characters, and those that are not UTF-8. Returns false when the list is full.
   */
  append(chunk: Uint8Array): boolean {
    const start = this.#usedBytes;
    const end = start + chunk.length;
    if (end > this.#limits.maxBytes) return false;
    this.#reserve(end);
    this.#bytes.set(chunk, start);
    this.#usedBytes = end;
    const stop = chunk.lastIndexOf(0);
    if (stop === -1) return true;
    const isRoomLeft = this.#addPaths(this.#openStart, start + stop + 1);
    this.#openStart = start + stop + 1;
    return isRoomLeft;
  }

  #reserve(byteLength: number): void {
    if (byteLength <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(byteLength, this.#bytes.length * 2));
    this.#bytes.copy(larger, 0, 0, this.#usedBytes);
    this.#bytes = larger;
  }

  #addPaths(from: number, to: number): boolean {
    const bytes: Uint8Array = this.#bytes;
    for (let start = from; start < to;) {
      let directory = this.#directory;
      let index = start + this.#countShared(start);
      let nameStart = index;
      let kinds = directory.kinds;
      if (index - start < directory.length) {
        [index, nameStart, kinds, directory] = [start, start, 0, noDirectory];
      }
      for (let byte = bytes[index]!; byte !== 0; byte = bytes[++index]!) {
        if (byte === slash) nameStart = index + 1;
        kinds |= kindBits[byte]!;
      }
      if (this.#canWrite(start, index, kinds)) {
        if (nameStart - start > directory.length) directory = this.#addDirectory(start, nameStart);
        this.#directory = directory;
        if (nameStart < index) this.#addEntry(start, { end: index, nameStart, kinds, directory });
        if (this.#count >= this.#limits.maxPaths) return false;
      }
      start = index + 1;
    }
    return true;
  }

  /** How many bytes a path has in common with the last directory. */
  #countShared(start: number): number {
    const bytes: Uint8Array = this.#bytes;
    const { start: other, length } = this.#directory;
    let shared = 0;
    while (shared < length && bytes[start + shared] === bytes[other + shared]) shared++;
    return shared;
  }

  #canWrite(start: number, end: number, kinds: number): boolean {
    if (end === start || end - start > maxPathBytes || (kinds & controlBit) !== 0) return false;
    return (kinds & wideBit) === 0 || isUtf8(this.#bytes.subarray(start, end));
  }

  /** Adds the directory and those above it, unless they are there. */
  #addDirectory(start: number, end: number): DirectoryRange {
    const path = this.#bytes.toString("latin1", start, end);
    const known = this.#directories.get(path);
    if (known) return known;
    const nameStart = start + path.lastIndexOf("/", path.length - 2) + 1;
    const above = nameStart > start ? this.#addDirectory(start, nameStart) : noDirectory;
    const kinds = getKindBits(this.#bytes, start, end);
    const number = this.#directories.size + 1;
    const directory = { number, start, length: end - start, kinds, depth: Math.min(above.depth + 1, maxDepth) };
    this.#directories.set(path, directory);
    this.#addEntry(start, { end, nameStart, kinds, directory: above });
    return directory;
  }

  #addEntry(start: number, { end, nameStart, kinds, directory }: NewEntry): void {
    const index = this.#count++;
    if (index === this.#entries.starts.length) this.#entries = growEntries(this.#entries);
    const entries = this.#entries;
    entries.starts[index] = start;
    entries.lengths[index] = end - start;
    entries.nameOffsets[index] = nameStart - start;
    entries.kinds[index] = kinds;
    entries.depths[index] = directory.depth;
    entries.directories[index] = directory.number;
  }
}

interface NewEntry {
  end: number;
  nameStart: number;
  kinds: number;
  /** That it is in. */
  directory: DirectoryRange;
}

/** Columns of numbers with a row for each path. */
interface Entries {
  readonly starts: Uint32Array;
  readonly lengths: Uint16Array;
  /** Where the name begins within the path. */
  readonly nameOffsets: Uint16Array;
  readonly kinds: Int32Array;
  /** How many directories are above it. */
  readonly depths: Uint8Array;
  /** The number of the directory that it is in. */
  readonly directories: Uint32Array;
}

const createEntries = (size: number): Entries => ({
  starts: new Uint32Array(size),
  lengths: new Uint16Array(size),
  nameOffsets: new Uint16Array(size),
  kinds: new Int32Array(size),
  depths: new Uint8Array(size),
  directories: new Uint32Array(size),
});

function growEntries(old: Entries): Entries {
  const larger = createEntries(old.starts.length * 2);
  larger.starts.set(old.starts);
  larger.lengths.set(old.lengths);
  larger.nameOffsets.set(old.nameOffsets);
  larger.kinds.set(old.kinds);
  larger.depths.set(old.depths);
  larger.directories.set(old.directories);
  return larger;
}
