/**
 * A segment of an index: the words of a range of a log, and in which entries each of them begins. Pure.
 *
 *     length, checksum, length of the head (4 bytes each), head (JSON)
 *     for each entry with text: how far behind the previous one it begins, and its length
 *     where each block of keys begins (4 bytes each), then the blocks
 *
 * A key in a block is the number of bytes that it shares with the previous key, the others, and its entries.
 */
import { crc32 } from "node:zlib";
import { isRecord, tryParseJson } from "@tau/ai/internal";
import type { SearchQuery, WantedWord } from "./query.ts";
import { ByteReader, ByteWriter } from "./bytes.ts";
import { foldText } from "./fold.ts";
import { toKey, visitWords } from "./words.ts";

const segmentFormat = "tau search 1";

/** The state of a log's file when its last part was indexed. */
export interface LogState {
  identity: string;
  size: number;
  modifiedMs: number;
}

interface SegmentFacts {
  log: LogState;
  /** The range of the log in bytes. */
  start: number;
  end: number;
  /** The CRC-32 of the log's last bytes before `end`. */
  tail: number;
  /** The directory that the header names, if it is in the range. */
  cwd?: string;
  /** The models that answered, as `provider/id`. */
  models: readonly string[];
  /** US dollars. */
  cost: number;
  /** The times of the first and the last entry with text, in milliseconds; 0 if there are none. */
  firstMs: number;
  lastMs: number;
}

interface SegmentHead extends SegmentFacts {
  format: string;
  entries: number;
  entryBytes: number;
  keys: number;
}

export interface IndexedEntry {
  /** Where it is in the log. */
  offset: number;
  length: number;
}

const keysPerBlock = 32;
const prefixBytes = 12;
/** Longer lengths follow in a byte of their own. */
const maxNibble = 15;

/** Collects the words of entries. */
export class SegmentBuilder {
  readonly #start: number;
  readonly #entries = new ByteWriter();
  readonly #entriesByKey = new Map<string, number[]>();
  #count = 0;
  #end: number;

  constructor(start: number) {
    this.#start = start;
    this.#end = start;
  }

  /** Entries follow each other in the log. */
  add({ offset, length }: IndexedEntry, text: string): void {
    this.#entries.varint(offset - this.#end);
    this.#entries.varint(length);
    this.#end = offset + length;
    const number = this.#count++;
    const { flat, lower } = foldText(text);
    visitWords(flat, (start, end) => {
      const key = toKey(lower.slice(start, Math.min(end, start + 16)));
      const numbers = this.#entriesByKey.get(key);
      if (!numbers) this.#entriesByKey.set(key, [number]);
      else if (numbers.at(-1) !== number) numbers.push(number);
    });
  }

  encode(facts: Omit<SegmentFacts, "start">): Buffer {
    const entries = this.#entries.take();
    const [blockStarts, blocks] = encodeKeys(this.#entriesByKey);
    const head: SegmentHead = {
      format: segmentFormat,
      ...facts,
      start: this.#start,
      entries: this.#count,
      entryBytes: entries.length,
      keys: this.#entriesByKey.size,
    };
    const headBytes = Buffer.from(JSON.stringify(head));
    const prefix = Buffer.alloc(prefixBytes);
    const bytes = Buffer.concat([prefix, headBytes, entries, blockStarts, blocks]);
    bytes.writeUInt32LE(bytes.length, 0);
    bytes.writeUInt32LE(headBytes.length, 8);
    bytes.writeUInt32LE(crc32(bytes.subarray(8)), 4);
    return bytes;
  }
}

function encodeKeys(entriesByKey: ReadonlyMap<string, readonly number[]>): [blockStarts: Buffer, blocks: Buffer] {
  const keys = [...entriesByKey.keys()].sort();
  const blockStarts = Buffer.alloc(Math.ceil(keys.length / keysPerBlock) * 4);
  const blocks = new ByteWriter();
  let previous = Buffer.alloc(0);
  for (const [index, key] of keys.entries()) {
    const bytes = Buffer.from(key);
    const begins = index % keysPerBlock === 0;
    if (begins) blockStarts.writeUInt32LE(blocks.length, (index / keysPerBlock) * 4);
    const shared = begins ? 0 : countShared(previous, bytes);
    const added = bytes.length - shared;
    blocks.byte((Math.min(shared, maxNibble) << 4) | Math.min(added, maxNibble));
    if (shared >= maxNibble) blocks.byte(shared);
    if (added >= maxNibble) blocks.byte(added);
    blocks.bytes(bytes.subarray(shared));
    writeNumbers(blocks, entriesByKey.get(key)!);
    previous = bytes;
  }
  return [blockStarts, blocks.take()];
}

function countShared(a: Buffer, b: Buffer): number {
  let count = 0;
  while (count < a.length && count < b.length && a[count] === b[count]) count++;
  return count;
}

/** Most words are in one entry: twice its number. Else the number of bytes that follow, twice and one more, and the distances. */
function writeNumbers(writer: ByteWriter, numbers: readonly number[]): void {
  if (numbers.length === 1) return writer.varint(numbers[0]! * 2);
  const list = new ByteWriter(numbers.length * 2);
  let previous = 0;
  for (const number of numbers) {
    list.varint(number - previous);
    previous = number;
  }
  const bytes = list.take();
  writer.varint(bytes.length * 2 + 1);
  writer.bytes(bytes);
}

/** Reads what `writeNumbers` wrote; without `visit`, skips it. */
function visitNumbers(reader: ByteReader, visit: ((number: number) => void) | undefined): void {
  const first = reader.varint();
  if (first % 2 === 0) return visit?.(first / 2);
  const end = reader.position + (first - 1) / 2;
  for (let number = 0; visit && reader.position < end;) {
    number += reader.varint();
    visit(number);
  }
  reader.position = end;
}

/** The key that is being read. A key is short, and one is read at a time. */
const currentKey = Buffer.alloc(2 * 256);

/** Compares the beginning of a key with `wanted`: 0 if the key begins with it. */
function compareStart(bytes: Uint8Array, start: number, length: number, wanted: Uint8Array): number {
  for (let index = 0; index < wanted.length; index++) {
    if (index === length) return -1;
    const difference = bytes[start + index]! - wanted[index]!;
    if (difference !== 0) return difference;
  }
  return 0;
}

/** A segment in the bytes of an index. They must not change while it is used. */
export class Segment {
  readonly head: Readonly<SegmentHead>;
  /** Its own bytes. */
  readonly bytes: Buffer;
  readonly #headEnd: number;

  private constructor(head: SegmentHead, bytes: Buffer, headEnd: number) {
    this.head = head;
    this.bytes = bytes;
    this.#headEnd = headEnd;
  }

  /** The segment at `position`; undefined if there is none, or it is damaged or of another version. */
  static read(bytes: Buffer, position: number): Segment | undefined {
    if (bytes.length - position < prefixBytes) return undefined;
    const length = bytes.readUInt32LE(position);
    if (length < prefixBytes || length > bytes.length - position) return undefined;
    const own = bytes.subarray(position, position + length);
    if (crc32(own.subarray(8)) !== own.readUInt32LE(4)) return undefined;
    const headEnd = prefixBytes + own.readUInt32LE(8);
    const head = tryParseJson(own.toString("utf8", prefixBytes, headEnd));
    if (!isRecord(head) || head["format"] !== segmentFormat) return undefined;
    return new Segment(head as unknown as SegmentHead, own, headEnd);
  }

  /** The entries that may match, in the order of the log. */
  find(query: SearchQuery): IndexedEntry[] {
    const { entries } = this.head;
    let candidates = new Uint8Array(entries).fill(1);
    for (const word of query.flatMap(({ words }) => words)) {
      const having = new Uint8Array(entries);
      if (!this.#mark(word, having, candidates)) return [];
      candidates = having;
    }
    return this.#readEntries(candidates);
  }

  /** Marks the candidates that have a word. Returns whether there are any. */
  #mark({ key, isPrefix }: WantedWord, having: Uint8Array, candidates: Uint8Array): boolean {
    const reader = new ByteReader(this.bytes, this.#findBlock(key));
    let hasAny = false;
    const mark = (number: number) => {
      if (candidates[number] === 1) having[number] = 1;
      hasAny ||= candidates[number] === 1;
    };
    while (reader.position < this.bytes.length) {
      const lengths = reader.byte();
      const shared = lengths >> 4 === maxNibble ? reader.byte() : lengths >> 4;
      const added = (lengths & maxNibble) === maxNibble ? reader.byte() : lengths & maxNibble;
      reader.copy(currentKey, shared, added);
      const length = shared + added;
      const order = compareStart(currentKey, 0, length, key);
      if (order > 0) break;
      const isMatch = order === 0 && (isPrefix || length === key.length);
      visitNumbers(reader, isMatch ? mark : undefined);
    }
    return hasAny;
  }

  get #blocksStart(): number {
    return this.#headEnd + this.head.entryBytes + this.#blockCount * 4;
  }

  get #blockCount(): number {
    return Math.ceil(this.head.keys / keysPerBlock);
  }

  /** Where the block begins in which the first key is that is not below `wanted`, or the block before it. */
  #findBlock(wanted: Uint8Array): number {
    const { bytes } = this;
    const starts = this.#headEnd + this.head.entryBytes;
    const blocks = this.#blocksStart;
    let [low, high] = [0, this.#blockCount - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      const start = blocks + bytes.readUInt32LE(starts + middle * 4);
      // The first key of a block shares nothing.
      const isLong = (bytes[start]! & maxNibble) === maxNibble;
      const [keyStart, keyLength] = isLong ? [start + 2, bytes[start + 1]!] : [start + 1, bytes[start]! & maxNibble];
      // One that begins with what is wanted may not be the first such key.
      const isBelow = compareStart(bytes, keyStart, keyLength, wanted) < 0;
      if (isBelow) low = middle;
      else high = middle - 1;
    }
    return this.#blockCount === 0 ? bytes.length : blocks + bytes.readUInt32LE(starts + low * 4);
  }

  #readEntries(candidates: Uint8Array): IndexedEntry[] {
    const found: IndexedEntry[] = [];
    const reader = new ByteReader(this.bytes, this.#headEnd);
    let end = this.head.start;
    for (let number = 0; number < candidates.length; number++) {
      const offset = end + reader.varint();
      const length = reader.varint();
      end = offset + length;
      if (candidates[number] === 1) found.push({ offset, length });
    }
    return found;
  }
}
