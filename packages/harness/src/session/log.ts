/** An open log: its table, its entries (read on demand) and a queue that appends. The table holds acknowledged entries. */
import { systemCode } from "@tau/tools/platform";
import { closedError, getLogPath, type LogStore } from "@tau/tools/storage";
import { HarnessError } from "@tau/protocol";
import { AppendQueue, type Durability } from "./append-queue.ts";
import type { SessionEntry, SessionHeader } from "./entry.ts";
import { type EntryTable, idNumber, isPlainId } from "./entry-table.ts";
import { encodeIndex } from "./index-file.ts";
import { readChecksum, encodeLine } from "./line.ts";
import { chunkBytes, type LoadedLog, loadLog, readTail } from "./load-log.ts";
import { type ReadOnly, readOnlyError } from "./read-only.ts";
import { addEntry, isSession, type Recovered, Recovery } from "./recover.ts";
import type { SessionProblem } from "./scan.ts";
import { countEntry, type SessionTotals } from "./totals.ts";

interface OpenLogOptions {
  store: LogStore;
  /** Default `strict`. */
  durability?: Durability;
  /** Default `write`: acquires the lease, and opens read-only if another process holds it. */
  access?: "write" | "read";
  /** Whether every line is verified, so that the index is not used. Default false: a line is verified when it is read. */
  verifiesAll?: boolean;
}

/** The content that takes the place of a line; undefined if the line stays as it is. */
export type RedactLine = (line: Buffer) => object | undefined;

/** How far apart two entries may be to be read together. */
const gapBytes = 64 * 1024;
/** How many entries are held while they are counted. */
const countedAtOnce = 500;
/** A log with less than this behind its index is scanned; that costs less than another index. */
const maxUnindexedBytes = 64 * 1024;
/** While a log is being written, its index may be this far behind: the next process scans it if this one is killed. */
const maxUnindexedWhileWriting = 16 * 1024 * 1024;

export class SessionLog {
  /** Why the log was opened read-only. */
  readonly #openedReadOnly: ReadOnly | undefined;
  readonly #store: LogStore;
  #known: Recovered;
  readonly #queue: AppendQueue;
  /** Where the index in the store ends. */
  #indexedEnd: number;
  /** Where the log ended when writing an index was last started. */
  #indexStartedAt: number;
  #indexing: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  private constructor(options: OpenLogOptions, { known, indexedEnd, isLineOpen, readOnly }: LoadedLog) {
    const { store, durability = "strict" } = options;
    this.#openedReadOnly = readOnly;
    this.#store = store;
    this.#known = known;
    this.#indexedEnd = indexedEnd;
    this.#indexStartedAt = known.end;
    this.#queue = new AppendQueue({ store, durability, end: known.end, isLineOpen });
  }

  /** Loads the log and writes a missing index. If it may write, it first cuts off a torn tail. */
  static async open(options: OpenLogOptions): Promise<SessionLog> {
    const { store, access = "write", verifiesAll = false } = options;
    try {
      const log = new SessionLog(options, await loadLog(store, { access, verifiesAll }));
      await log.#writeIndex();
      return log;
    } catch (error) {
      await store.close();
      throw error;
    }
  }

  /** A path or a name, for messages. */
  get name(): string {
    return this.#store.name;
  }

  /** Undefined if it is not in a file. */
  get path(): string | undefined {
    return getLogPath(this.#store);
  }

  get table(): EntryTable {
    return this.#known.table;
  }

  /** False for a file of another program. */
  get isSession(): boolean {
    return isSession(this.#known);
  }

  get problems(): readonly SessionProblem[] {
    return this.#known.problems;
  }

  /** Called when a line turned out to be damaged as it was read, and all problems of the log are known. */
  onReload: () => void = () => undefined;

  /** Undefined if entries can be appended. A failed write may set it later. */
  get readOnly(): ReadOnly | undefined {
    return this.#openedReadOnly ?? this.#queue.failure;
  }

  /** Undefined if the log has no readable header. */
  async header(): Promise<SessionHeader | undefined> {
    const header = await this.#readHeader();
    if (header || !this.#known.header) return header;
    await this.#reload();
    return await this.#readHeader();
  }

  async #readHeader(): Promise<SessionHeader | undefined> {
    const { header } = this.#known;
    return header && (parse(await this.#store.read(header.offset, header.length)) as SessionHeader | undefined);
  }

  /** Resolves with the entries as they are written when they are acknowledged; either all are written or none. */
  async append(
    entries: readonly (SessionEntry | SessionHeader)[],
    redact: RedactLine = () => undefined,
  ): Promise<readonly (SessionEntry | SessionHeader)[]> {
    if (this.#closing) throw closedError(this.name);
    if (this.#openedReadOnly) throw readOnlyError(this.name, this.#openedReadOnly);
    // A crash may have left a header without an entry. A log has only one header.
    const added = this.#known.header ? entries.filter(({ type }) => type !== "session") : [...entries];
    const lines = added.map((entry, index) => {
      const line = encodeLine(entry);
      const redacted = redact(line) as SessionEntry | undefined;
      if (!redacted) return line;
      added[index] = redacted;
      return encodeLine(redacted);
    });
    let offset = await this.#queue.add(lines);
    for (const [index, entry] of added.entries()) {
      const { length } = lines[index]!;
      addEntry(this.#known, entry, { offset, length: length - 1 });
      offset += length;
    }
    if (this.#known.end - this.#indexStartedAt > maxUnindexedWhileWriting) await (this.#indexing = this.#writeIndex());
    return added;
  }

  /** Waits for all appends, and brings them to the disk unless the durability is `none`. */
  async flush(): Promise<void> {
    if (this.#closing) throw closedError(this.name);
    if (!this.#openedReadOnly) await this.#queue.flush();
  }

  /**
   * The entries of these rows, in the same order. If the log differs from its index, or was changed from outside, the log
   * is loaded again and this rejects, because rows may then have other numbers. See `retryIfReloaded`.
   */
  async read(rows: readonly number[]): Promise<SessionEntry[]> {
    if (this.#closing) throw closedError(this.name);
    await this.#queue.settled();
    const entries: SessionEntry[] = [];
    for (const { start, end, first, last } of toRanges(this.table, rows)) {
      // A million entries take seconds, and who closes the log does not wait for them.
      if (this.#closing) throw closedError(this.name);
      const bytes = await this.#store.read(start, end - start);
      for (const row of rows.slice(first, last + 1)) {
        const offset = this.table.offset(row) - start;
        const entry = parse(bytes.subarray(offset, offset + this.table.length(row))) as SessionEntry | undefined;
        if (typeof entry?.id !== "string" || idNumber(entry.id) !== this.table.id(row)) {
          await this.#reload();
          const text = `The session ${this.name} was changed by another program and has been reloaded. Try again.`;
          throw new HarnessError("overtaken", text);
        }
        entries.push(entry);
      }
    }
    return entries;
  }

  /** Adds up all entries. Reads only entries that neither the index nor an append has counted. */
  async countEntries(): Promise<SessionTotals> {
    const known = this.#known;
    const { table } = known;
    while (known.counted.rows < table.count) {
      const { rows: start, totals } = known.counted;
      const end = Math.min(start + countedAtOnce, table.count);
      const entries = await this.read(table.entryRows(start, end));
      known.counted = { rows: end, totals: entries.reduce(countEntry, totals) };
      // The index in the store does not count them yet.
      this.#indexedEnd = Math.min(this.#indexedEnd, table.offset(start));
    }
    return known.counted.totals;
  }

  /** Runs `work`, and runs it again if it failed because the log had to be reloaded. */
  async retryIfReloaded<T>(work: () => Promise<T>): Promise<T> {
    const before = this.#known;
    try {
      return await work();
    } catch (error) {
      if (this.#known === before) throw error;
      return await work();
    }
  }

  /**
   * Scans the log without its index and parses lines with right checksums too, since another program may have made them.
   * Includes what is acknowledged meanwhile.
   */
  async #reload(): Promise<void> {
    const recovery = new Recovery(undefined, { parsesAll: true });
    for (let position = 0; position < this.#known.end;) {
      const bytes = await this.#store.read(position, Math.min(chunkBytes, this.#known.end - position));
      if (bytes.length === 0) break;
      recovery.push(bytes);
      position += bytes.length;
    }
    const torn = this.#known.problems.filter(({ kind }) => kind === "torn");
    this.#known = recovery.end();
    this.#known.problems.push(...torn);
    this.#indexedEnd = 0;
    this.onReload();
  }

  /** The row of an entry; -1 if there is none. */
  async find(id: string): Promise<number> {
    const row = this.table.find(idNumber(id));
    if (row < 0 || this.table.kind(row) === "damaged") return -1;
    if (isPlainId(id)) return row;
    const [entry] = await this.read([row]);
    return entry?.id === id ? row : -1;
  }

  /** Keeps a blob with the log; see `LogStore.writeBlob`. */
  async writeBlob(name: string, bytes: Uint8Array): Promise<void> {
    if (this.#closing) throw closedError(this.name);
    await this.#store.writeBlob(name, bytes);
  }

  /** Undefined if the log has no blob with this name. */
  async readBlob(name: string): Promise<Buffer | undefined> {
    if (this.#closing) throw closedError(this.name);
    return await this.#store.readBlob(name);
  }

  /** The bytes of the log without a torn tail. */
  async bytes(): Promise<Buffer> {
    await this.#queue.settled();
    return await this.#store.read(0, this.#known.end);
  }

  /**
   * Writes pending entries and the index, then releases the lease. Later reads and appends are refused. Rejects if an
   * appended entry was lost and no caller has seen that.
   */
  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    await this.#queue.settled();
    try {
      await this.#indexing;
      this.#queue.throwUnreported();
      if (this.readOnly) return;
      await this.#queue.flush();
      await this.#writeIndex();
    } finally {
      await this.#store.close();
    }
  }

  async #writeIndex(): Promise<void> {
    const { end } = this.#known;
    if (this.readOnly || end - this.#indexedEnd <= maxUnindexedBytes) return;
    this.#indexStartedAt = end;
    const encode = encodeIndex(this.#known);
    try {
      await this.#queue.settled();
      const stats = await this.#store.stat();
      const tail = await readTail(this.#store, end);
      // A last line without a line feed may still grow, so it cannot be indexed.
      if (!stats || stats.size < end || tail.at(-1) !== 0x0a) return;
      const index = await encode({ identity: stats.identity, tail });
      // An index that is larger than its log saves nothing.
      if (index.length < end) await this.#store.writeIndex(index);
      this.#indexedEnd = end;
    } catch (error) {
      // A session also opens without an index.
      if (systemCode(error) === undefined) throw error;
    }
  }
}

/** A range of bytes, and the indexes of the first and the last of the rows in it. */
interface Range {
  start: number;
  end: number;
  first: number;
  last: number;
}

/** Joins rows that are close together, so that they are read at once. */
function* toRanges(table: EntryTable, rows: readonly number[]): Generator<Range> {
  let range: Range | undefined;
  for (let index = 0; index < rows.length; index++) {
    const row = rows[index]!;
    const start = table.offset(row);
    const end = start + table.length(row);
    if (range && start >= range.end && start - range.end <= gapBytes && end - range.start <= chunkBytes) {
      range.end = end;
      range.last = index;
    } else {
      if (range) yield range;
      range = { start, end, first: index, last: index };
    }
  }
  if (range) yield range;
}

/** The entry or header in these bytes; undefined if they are damaged. */
function parse(bytes: Buffer): object | undefined {
  const checksum = readChecksum(bytes);
  if (checksum === "wrong" || checksum === "broken") return undefined;
  try {
    const value = JSON.parse(bytes.toString("utf8")) as { crc?: unknown } | null;
    if (typeof value !== "object" || value === null) return undefined;
    // The checksum belongs to the line, not to the entry.
    delete value.crc;
    return value;
  } catch (error) {
    // Not JSON, or too long for a string.
    if (error instanceof SyntaxError || error instanceof RangeError || systemCode(error) === "ERR_STRING_TOO_LONG")
      return undefined;
    throw error;
  }
}
