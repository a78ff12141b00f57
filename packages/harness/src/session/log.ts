/**
 * A session's log, open: its table, its entries when they are asked for, and a queue that writes. What is in the table
 * was acknowledged.
 */
import type { LeaseHolder } from "@tau/tools/platform";
import { HarnessError } from "../errors.ts";
import { AppendQueue, type Durability } from "./append-queue.ts";
import type { SessionEntry, SessionHeader } from "./entry.ts";
import { type EntryTable, idNumber, isPlainId } from "./entry-table.ts";
import { decodeIndex, encodeIndex, fits, tailBytes } from "./index-file.ts";
import { encodeLine } from "./line.ts";
import { placeEntry, type Recovered, Recovery } from "./recover.ts";
import type { SessionProblem } from "./scan.ts";
import type { LogStore } from "./store.ts";

export interface OpenLogOptions {
  store: LogStore;
  /** Default `strict`. */
  durability?: Durability;
  /** Default `write`: takes the right to write, and opens for reading when somebody else has it. */
  access?: "write" | "read";
}

/** Why nothing can be written. */
export type ReadOnly = { reason: "asked" } | { reason: "held"; holder: LeaseHolder };

/** How much of a log is read at a time, and how far two entries may lie apart to be read together. */
const chunkBytes = 1024 * 1024;
const gapBytes = 64 * 1024;
/** How much of a log may be without an index: reading so much is not worth a file. */
const unindexedBytes = 64 * 1024;

export class SessionLog {
  readonly readOnly: ReadOnly | undefined;
  readonly #store: LogStore;
  readonly #known: Recovered;
  readonly #queue: AppendQueue;
  /** Where the index that is in the store ends. */
  #indexedEnd: number;

  private constructor(options: OpenLogOptions, found: Found, readOnly: ReadOnly | undefined) {
    const { store, durability = "strict" } = options;
    const { known, indexedEnd, isLineOpen } = found;
    this.readOnly = readOnly;
    this.#store = store;
    this.#known = known;
    this.#indexedEnd = indexedEnd;
    this.#queue = new AppendQueue({ store, durability, end: known.end, isLineOpen });
  }

  /** Opens what is there, sets a torn tail aside if it may write, and makes an index where there is none that fits. */
  static async open(options: OpenLogOptions): Promise<SessionLog> {
    const { store, access = "write" } = options;
    try {
      const lease = access === "write" ? await store.acquire() : undefined;
      const found = await load(store);
      if (lease?.kind === "held") await setTornTailAside(store, found);
      const readOnly: ReadOnly | undefined =
        lease?.kind === "held" ? undefined : lease ? { reason: "held", holder: lease.holder } : { reason: "asked" };
      const log = new SessionLog(options, found, readOnly);
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

  /** Undefined when there is none that can be read. */
  async header(): Promise<SessionHeader | undefined> {
    const { header } = this.#known;
    if (!header) return undefined;
    return JSON.parse((await this.#store.read(header.offset, header.length)).toString("utf8")) as SessionHeader;
  }

  /** Resolves when the entries are acknowledged: all of them or none. */
  async append(entries: readonly (SessionEntry | SessionHeader)[]): Promise<void> {
    if (this.readOnly) throw readOnlyError(this.name, this.readOnly);
    const lines = entries.map(encodeLine);
    let offset = await this.#queue.add(lines);
    for (const [at, entry] of entries.entries()) {
      const { length } = lines[at]!;
      placeEntry(this.#known, entry, { offset, length: length - 1 });
      offset += length;
    }
  }

  /** Waits for everything that was appended, and brings it to the disk unless the durability is `none`. */
  async flush(): Promise<void> {
    if (!this.readOnly) await this.#queue.flush();
  }

  /** The entries of these rows, in the same order. */
  async read(rows: readonly number[]): Promise<SessionEntry[]> {
    await this.#queue.settled();
    const entries: SessionEntry[] = [];
    for (const { from, to, first, last } of rangesOf(this.table, rows)) {
      const bytes = await this.#store.read(from, to - from);
      for (const row of rows.slice(first, last + 1)) {
        const start = this.table.offset(row) - from;
        entries.push(parseEntry(bytes.subarray(start, start + this.table.length(row)), this.name));
      }
    }
    return entries;
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

  /** Writes what waits, leaves an index, and gives back the right to write. */
  async close(): Promise<void> {
    await this.#queue.settled();
    try {
      if (!this.readOnly && !this.#queue.refusal) await this.#queue.flush();
      await this.#writeIndex();
    } finally {
      await this.#store.close();
    }
  }

  async #writeIndex(): Promise<void> {
    const { end } = this.#known;
    if (this.readOnly || end - this.#indexedEnd <= unindexedBytes) return;
    const stats = await this.#store.stat();
    if (!stats || stats.size < end) return;
    await this.#store.writeIndex(
      encodeIndex(this.#known, { identity: stats.identity, tail: await readTail(this.#store, end) }),
    );
    this.#indexedEnd = end;
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

async function setTornTailAside(store: LogStore, { known, size }: Found): Promise<void> {
  if (known.end === size) return;
  const aside = await store.cut(known.end);
  for (const problem of known.problems) {
    if (problem.kind === "torn") problem.message += ` It was set aside: ${aside}`;
  }
}

interface Range {
  from: number;
  to: number;
  /** Which of the rows are in it. */
  first: number;
  last: number;
}

/** Rows that lie close together are read at once. */
function rangesOf(table: EntryTable, rows: readonly number[]): Range[] {
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

function parseEntry(bytes: Buffer, name: string): SessionEntry {
  try {
    return JSON.parse(bytes.toString("utf8")) as SessionEntry;
  } catch (error) {
    const text = `The session ${name} was changed by something else while it was open. Open it again.`;
    throw new HarnessError("overtaken", text, { cause: error });
  }
}

function readOnlyError(name: string, readOnly: ReadOnly): HarnessError {
  if (readOnly.reason === "asked")
    return new HarnessError("read_only", `The session ${name} was opened for reading only.`);
  const { pid } = readOnly.holder;
  const text = `The session ${name} is being written by process ${pid}. Close it there, or fork the session to go on here.`;
  return new HarnessError("read_only", text);
}
