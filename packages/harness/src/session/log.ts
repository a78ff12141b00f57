/**
 * A session's log, open: its table, its entries when they are asked for, and a queue that writes. What is in the table
 * was acknowledged.
 */
import { getErrorMessage } from "@tau/ai";
import { type LeaseHolder, systemCode } from "@tau/tools/platform";
import { HarnessError } from "../errors.ts";
import { AppendQueue, type Durability } from "./append-queue.ts";
import type { SessionEntry, SessionHeader } from "./entry.ts";
import { type EntryTable, idNumber, isPlainId } from "./entry-table.ts";
import { decodeIndex, encodeIndex, fits, tailBytes } from "./index-file.ts";
import { readChecksum, encodeLine } from "./line.ts";
import { placeEntry, type Recovered, Recovery } from "./recover.ts";
import type { SessionProblem } from "./scan.ts";
import { closedError, type LogStore } from "./store.ts";

export interface OpenLogOptions {
  store: LogStore;
  /** Default `strict`. */
  durability?: Durability;
  /** Default `write`: takes the right to write, and opens for reading when somebody else has it. */
  access?: "write" | "read";
}

/** Why nothing can be written. */
export type ReadOnly =
  | { reason: "asked" }
  | { reason: "held"; holder: LeaseHolder }
  /** The disk does not let us: it is full, or read-only, or not ours; or it is no session; or writing has failed for good. */
  | { reason: "refused"; message: string };

/** How much of a log is read at a time, and how far two entries may lie apart to be read together. */
const chunkBytes = 1024 * 1024;
const gapBytes = 64 * 1024;
/** How much of a log may be without an index: reading so much is not worth a file. */
const unindexedBytes = 64 * 1024;
/** The same while it is being written: what a killed process leaves without an index is read anew by the next. */
const unindexedWhileWriting = 16 * 1024 * 1024;

export class SessionLog {
  /** What stood against writing when it was opened. */
  readonly #barred: ReadOnly | undefined;
  readonly #store: LogStore;
  #known: Recovered;
  readonly #queue: AppendQueue;
  /** Where the index that is in the store ends. */
  #indexedEnd: number;
  /** Where the log ended when an index was last begun. */
  #indexBegunAt: number;
  #indexing: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  private constructor(options: OpenLogOptions, found: Found, barred: ReadOnly | undefined) {
    const { store, durability = "strict" } = options;
    const { known, indexedEnd, isLineOpen } = found;
    this.#barred = barred;
    this.#store = store;
    this.#known = known;
    this.#indexedEnd = indexedEnd;
    this.#indexBegunAt = known.end;
    this.#queue = new AppendQueue({ store, durability, end: known.end, isLineOpen });
  }

  /** Opens what is there, sets a torn tail aside if it may write, and makes an index where there is none that fits. */
  static async open(options: OpenLogOptions): Promise<SessionLog> {
    const { store, access = "write" } = options;
    try {
      const barred = access === "write" ? await tryToAcquire(store) : ({ reason: "asked" } as const);
      const found = await load(store);
      const foreign = await notOurs(store, found);
      const log = new SessionLog(options, found, barred ?? foreign ?? (await setTornTailAside(store, found)));
      await log.#writeIndex();
      return log;
    } catch (error) {
      await store.close();
      throw error;
    }
  }

  /** For people: where it is. */
  get name(): string {
    return this.#store.name;
  }

  get table(): EntryTable {
    return this.#known.table;
  }

  get problems(): readonly SessionProblem[] {
    return this.#known.problems;
  }

  /** Why nothing can be appended, also when that was found out only after it was opened; undefined when it can. */
  get readOnly(): ReadOnly | undefined {
    const { refusal } = this.#queue;
    return this.#barred ?? (refusal && { reason: "refused", message: refusal.message });
  }

  /** Undefined when there is none that can be read. */
  async header(): Promise<SessionHeader | undefined> {
    const before = this.#known;
    const header = await this.#readHeader();
    if (header || !before.header) return header;
    await this.#readAnew();
    return await this.#readHeader();
  }

  async #readHeader(): Promise<SessionHeader | undefined> {
    const { header } = this.#known;
    return header && (parse(await this.#store.read(header.offset, header.length)) as SessionHeader | undefined);
  }

  /** Resolves when the entries are acknowledged: all of them or none. */
  async append(entries: readonly (SessionEntry | SessionHeader)[]): Promise<void> {
    if (this.#closing) throw closedError(this.name);
    if (this.#barred) throw readOnlyError(this.name, this.#barred);
    // A crash may have left a header with no entry behind it; a log has only one.
    const wanted = this.#known.header ? entries.filter(({ type }) => type !== "session") : entries;
    const lines = wanted.map(encodeLine);
    let offset = await this.#queue.add(lines);
    for (const [at, entry] of wanted.entries()) {
      const { length } = lines[at]!;
      placeEntry(this.#known, entry, { offset, length: length - 1 });
      offset += length;
    }
    if (this.#known.end - this.#indexBegunAt > unindexedWhileWriting) await (this.#indexing = this.#writeIndex());
  }

  /** Waits for everything that was appended, and brings it to the disk unless the durability is `none`. */
  async flush(): Promise<void> {
    if (this.#closing) throw closedError(this.name);
    if (!this.#barred) await this.#queue.flush();
  }

  /**
   * The entries of these rows, in the same order. Where the log turns out to be other than its index said, or was changed
   * since, it is read anew and this rejects: rows may have other numbers then. See `retrying`.
   */
  async read(rows: readonly number[]): Promise<SessionEntry[]> {
    if (this.#closing) throw closedError(this.name);
    await this.#queue.settled();
    const entries: SessionEntry[] = [];
    for (const { from, to, first, last } of toRanges(this.table, rows)) {
      const bytes = await this.#store.read(from, to - from);
      for (const row of rows.slice(first, last + 1)) {
        const start = this.table.offset(row) - from;
        const entry = parse(bytes.subarray(start, start + this.table.length(row))) as SessionEntry | undefined;
        if (typeof entry?.id !== "string" || idNumber(entry.id) !== this.table.id(row))
          return await this.#rejectChanged();
        entries.push(entry);
      }
    }
    return entries;
  }

  /** Runs what reads, and once more where the log had to be read anew. */
  async retrying<T>(work: () => Promise<T>): Promise<T> {
    const before = this.#known;
    try {
      return await work();
    } catch (error) {
      if (this.#known === before) throw error;
      return await work();
    }
  }

  async #rejectChanged(): Promise<never> {
    await this.#readAnew();
    const text = `The session ${this.name} was changed by something else. What is there was read anew: try again.`;
    throw new HarnessError("overtaken", text);
  }

  /**
   * Without the index, and without trust in checksums: a line that somebody made may have a right one and be none. What
   * was acknowledged in the meantime is read too.
   */
  async #readAnew(): Promise<void> {
    const recovery = new Recovery(undefined, { parsesAll: true });
    for (let at = 0; at < this.#known.end;) {
      const bytes = await this.#store.read(at, Math.min(chunkBytes, this.#known.end - at));
      if (bytes.length === 0) break;
      recovery.push(bytes);
      at += bytes.length;
    }
    const torn = this.#known.problems.filter(({ kind }) => kind === "torn");
    this.#known = recovery.end();
    this.#known.problems.push(...torn);
    this.#indexedEnd = 0;
  }

  /** The row of an entry; -1 when there is none. */
  async find(id: string): Promise<number> {
    const row = this.table.find(idNumber(id));
    if (row < 0 || this.table.kind(row) === "damaged") return -1;
    if (isPlainId(id)) return row;
    const [entry] = await this.read([row]);
    return entry?.id === id ? row : -1;
  }

  /** All that is known to be good, as it is. */
  async bytes(): Promise<Buffer> {
    await this.#queue.settled();
    return await this.#store.read(0, this.#known.end);
  }

  async lastModifiedMs(): Promise<number | undefined> {
    return (await this.#store.stat())?.modifiedMs;
  }

  /**
   * Writes what waits, leaves an index, and gives back the right to write. From now on nothing is appended or read.
   * Rejects when something that was appended is not kept and nobody has been told so.
   */
  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    await this.#queue.settled();
    try {
      await this.#indexing;
      this.#queue.tellRefusal();
      if (this.readOnly) return;
      await this.#queue.flush();
      await this.#writeIndex();
    } finally {
      await this.#store.close();
    }
  }

  async #writeIndex(): Promise<void> {
    const { end } = this.#known;
    if (this.readOnly || end - this.#indexedEnd <= unindexedBytes) return;
    this.#indexBegunAt = end;
    const encode = encodeIndex(this.#known);
    try {
      await this.#queue.settled();
      const stats = await this.#store.stat();
      const tail = await readTail(this.#store, end);
      // A last line that is still open belongs to nobody's index: it may go on.
      if (!stats || stats.size < end || tail.at(-1) !== 0x0a) return;
      const index = encode({ identity: stats.identity, tail });
      // To read the log is cheaper than to read what is larger than it.
      if (index.length < end) await this.#store.writeIndex(index);
      this.#indexedEnd = end;
    } catch (error) {
      // A session without an index opens all the same.
      if (systemCode(error) === undefined) throw error;
    }
  }
}

interface Found {
  known: Recovered;
  indexedEnd: number;
  isLineOpen: boolean;
  size: number;
}

async function load(store: LogStore): Promise<Found> {
  const stats = await store.stat();
  if (!stats) return { known: new Recovery().end(), indexedEnd: 0, isLineOpen: false, size: 0 };
  const indexed = await loadIndex(store, stats);
  const indexedEnd = indexed?.end ?? 0;
  const recovery = new Recovery(indexed);
  for (let at = indexedEnd; at < stats.size; at += chunkBytes) {
    recovery.push(await store.read(at, Math.min(chunkBytes, stats.size - at)));
  }
  const known = recovery.end();
  const isLineOpen = known.end > 0 && (await store.read(known.end - 1, 1))[0] !== 0x0a;
  return { known, indexedEnd, isLineOpen, size: stats.size };
}

/** The index, if it is that of this log. */
async function loadIndex(
  store: LogStore,
  { size, identity }: { size: number; identity: string },
): Promise<Recovered | undefined> {
  const bytes = await store.readIndex();
  const index = bytes && decodeIndex(bytes);
  if (!index || index.recovered.end > size) return undefined;
  return fits(index, { identity, tail: await readTail(store, index.recovered.end) }) ? index.recovered : undefined;
}

const readTail = (store: LogStore, end: number) => {
  const from = Math.max(0, end - tailBytes);
  return store.read(from, end - from);
};

/** What our first line begins with; a crash may have left no more than that, or less. */
const headerStart = Buffer.from('{"type":"session"');

/** How much a crash may leave as zeros where a log was begun. */
const maxPartialBytes = 64 * 1024;

/** Whether a crash or a loss of power may have left this of a log of ours. */
function isBegun(start: Buffer, size: number): boolean {
  const first = start.subarray(0, headerStart.length);
  if (headerStart.subarray(0, first.length).equals(first)) return true;
  return size <= maxPartialBytes && start.every((byte) => byte === 0);
}

/** A file without a header and without an entry is somebody else's, whatever its name says: nothing of it is changed. */
async function notOurs(store: LogStore, { known, size }: Found): Promise<ReadOnly | undefined> {
  const { table, problems, header } = known;
  const isSession = header !== undefined || table.lastEntry() >= 0 || problems.some(({ kind }) => kind === "no_id");
  if (isSession || size === 0) return undefined;
  if (known.end === 0 && isBegun(await store.read(0, maxPartialBytes), size)) return undefined;
  const message = "it is no session: there is neither a header nor an entry in it";
  problems.unshift({ kind: "no_session", line: 1, offset: 0, message: `This file is not written to: ${message}.` });
  return { reason: "refused", message };
}

async function setTornTailAside(store: LogStore, { known, size }: Found): Promise<ReadOnly | undefined> {
  if (known.end === size) return undefined;
  try {
    const aside = await store.cut(known.end);
    for (const problem of known.problems) {
      if (problem.kind === "torn") problem.message += ` It was set aside: ${aside}`;
    }
    return undefined;
  } catch (error) {
    return refused(error);
  }
}

/** Why nothing can be written; undefined when the right to write is ours. */
async function tryToAcquire(store: LogStore): Promise<ReadOnly | undefined> {
  try {
    const outcome = await store.acquire();
    return outcome.kind === "held" ? undefined : { reason: "held", holder: outcome.holder };
  } catch (error) {
    return refused(error);
  }
}

/** What cannot be written can be read all the same. */
function refused(error: unknown): ReadOnly {
  if (systemCode(error) === undefined) throw error;
  return { reason: "refused", message: getErrorMessage(error) };
}

interface Range {
  from: number;
  to: number;
  /** Which of the rows are in it. */
  first: number;
  last: number;
}

/** Rows that lie close together are read at once. */
function toRanges(table: EntryTable, rows: readonly number[]): Range[] {
  const ranges: Range[] = [];
  for (const [at, row] of rows.entries()) {
    const from = table.offset(row);
    const to = from + table.length(row);
    const range = ranges.at(-1);
    if (range && from >= range.to && from - range.to <= gapBytes && to - range.from <= 4 * chunkBytes) {
      range.to = to;
      range.last = at;
    } else ranges.push({ from, to, first: at, last: at });
  }
  return ranges;
}

/** The entry or header in these bytes; undefined when they are none any more. */
function parse(bytes: Buffer): object | undefined {
  const checksum = readChecksum(bytes);
  if (checksum === "wrong" || checksum === "broken") return undefined;
  try {
    const value = JSON.parse(bytes.toString("utf8")) as { crc?: unknown } | null;
    if (typeof value !== "object" || value === null) return undefined;
    // It belongs to the line, not to the entry.
    delete value.crc;
    return value;
  } catch (error) {
    // What is no JSON, or would be too long for a text.
    if (error instanceof SyntaxError || error instanceof RangeError || systemCode(error) === "ERR_STRING_TOO_LONG")
      return undefined;
    throw error;
  }
}

export function readOnlyError(name: string, readOnly: ReadOnly): HarnessError {
  if (readOnly.reason === "asked")
    return new HarnessError("read_only", `The session ${name} was opened for reading only.`);
  if (readOnly.reason === "refused") {
    const text = `The session ${name} cannot be written: ${readOnly.message}. Mend that and open it again, or save it under another name.`;
    return new HarnessError("read_only", text);
  }
  const { pid } = readOnly.holder;
  const text = `The session ${name} is being written by process ${pid}. Close it there, or fork the session to go on here.`;
  return new HarnessError("read_only", text);
}
