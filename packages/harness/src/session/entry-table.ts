/**
 * The position and the parent of each entry of a log, in columns of numbers: a hundred thousand entries take two and a
 * half megabytes and no objects. The content of an entry is always read from the log.
 */
import { RowsById } from "./rows-by-id.ts";

/** Lets signals and timers be served. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const kinds = [
  "damaged",
  "user",
  "assistant",
  "toolResult",
  "message",
  "model_change",
  "thinking_level_change",
  "compaction",
  "branch_summary",
  "custom",
  "custom_message",
  "label",
  "session_info",
  "usage",
  "context_edit",
  "unknown",
  // New kinds go to the end, because indexes on disk hold the numbers.
  "queue",
  "prefix",
  "permission_mode",
] as const;
export type EntryKind = (typeof kinds)[number];

const kindNumbers = new Map<string, number>(kinds.map((kind, number) => [kind, number]));
const entryTypes = new Set<string>(kinds.slice(kinds.indexOf("model_change")).filter((kind) => kind !== "unknown"));
const kindNumber = (kind: EntryKind) => kindNumbers.get(kind) ?? 0;

const damaged = kindNumber("damaged");

/** A byte of the kinds column holds the kind, whether the id is unknown, and whether the entry was re-attached. */
const [kindBits, unknownIdBit, reattachedBit] = [0x3f, 0x40, 0x80];

/** The kind of a line with this type and, for a message, this role. */
export function getKind(type: string, role: unknown): EntryKind {
  if (type === "message") return role === "user" || role === "assistant" || role === "toolResult" ? role : "message";
  return entryTypes.has(type) ? (type as EntryKind) : "unknown";
}

interface EntryRow {
  offset: number;
  length: number;
  /** The row of its parent; -1 for a root. */
  parent: number;
  /** See `idNumber`; undefined for a damaged entry whose id is lost. */
  id: number | undefined;
  kind: EntryKind;
  /** Whether its real parent is lost. */
  isReattached: boolean;
}

/** After this many rows were compared, in all searches together, a map is built. */
const maxSearchedRows = 4_000_000;

export class EntryTable {
  #count = 0;
  #offsets = new Float64Array(64);
  #lengths = new Uint32Array(64);
  #parents = new Int32Array(64);
  #ids = new Int32Array(64);
  /** See `kindBits`. */
  #kinds = new Uint8Array(64);
  #damagedCount = 0;
  /** The latest damaged row without children; -1 if there is none. */
  #childless = -1;
  #searchedRows = 0;
  /** The latest row of each id. */
  #rowsById: RowsById | undefined;

  get count(): number {
    return this.#count;
  }

  /** How many rows are readable. */
  get entryCount(): number {
    return this.#count - this.#damagedCount;
  }

  add({ offset, length, parent, id, kind, isReattached }: EntryRow): number {
    const row = this.#count++;
    if (row === this.#kinds.length) this.#grow(Math.max(64, row * 2));
    this.#offsets[row] = offset;
    this.#lengths[row] = length;
    this.#parents[row] = parent;
    this.#ids[row] = id ?? 0;
    this.#kinds[row] = kindNumber(kind) | (isReattached ? reattachedBit : 0) | (id === undefined ? unknownIdBit : 0);
    if (id !== undefined) this.#rowsById?.set(id, row);
    this.#updateDamaged(row);
    return row;
  }

  #updateDamaged(row: number): void {
    if (this.#parents[row] === this.#childless) this.#childless = -1;
    if ((this.#kinds[row]! & kindBits) !== damaged) return;
    this.#childless = row;
    this.#damagedCount++;
  }

  /**
   * The row that an entry is attached to if its parent `id` is unknown: the latest damaged row without children, which
   * most likely was the parent and has this id from now on; otherwise the last row.
   */
  replaceParent(id: number): number {
    const row = this.#childless;
    if (row < 0 || Number.isNaN(id)) return this.#count - 1;
    this.#ids[row] = id;
    this.#kinds[row]! &= ~unknownIdBit;
    this.#rowsById?.set(id, row);
    return row;
  }

  offset = (row: number): number => this.#offsets[row]!;
  length = (row: number): number => this.#lengths[row]!;
  parent = (row: number): number => this.#parents[row]!;
  /** See `idNumber`. Meaningless for a damaged row. */
  id = (row: number): number => this.#ids[row]!;
  kind = (row: number): EntryKind => kinds[this.#kinds[row]! & kindBits] ?? "unknown";
  isReattached = (row: number): boolean => (this.#kinds[row]! & reattachedBit) !== 0;
  #hasId = (row: number): boolean => (this.#kinds[row]! & unknownIdBit) === 0;

  /**
   * The latest row with this id number; -1 if there is none. The number of an id of eight hex digits is unique; for other
   * ids the entry has to be compared.
   */
  find(id: number): number {
    if (this.#rowsById) return this.#rowsById.get(id);
    // Nearly always the row is among the last.
    let row = this.#count;
    do row = row > 0 ? this.#ids.lastIndexOf(id, row - 1) : -1;
    while (row >= 0 && !this.#hasId(row));
    this.#searchedRows += this.#count - row;
    if (this.#searchedRows > maxSearchedRows) {
      this.#rowsById = new RowsById(this.id, this.#count);
      for (let other = 0; other < this.#count; other++) {
        if (this.#hasId(other)) this.#rowsById.set(this.#ids[other]!, other);
      }
    }
    return row;
  }

  /** The nearest row of one of these kinds among `row` and its ancestors; -1 if there is none. */
  findAncestor(row: number, ...kinds: EntryKind[]): number {
    // A branch may be a hundred thousand rows long.
    const mask = toMask(kinds);
    const [parents, kindBytes] = [this.#parents, this.#kinds];
    let ancestor = row;
    while (ancestor >= 0 && (mask & (1 << (kindBytes[ancestor]! & kindBits))) === 0) ancestor = parents[ancestor]!;
    return ancestor;
  }

  /** The nearest readable row among `row` and its ancestors; -1 if there is none. */
  findReadable(row: number): number {
    let ancestor = row;
    while (ancestor >= 0 && this.kind(ancestor) === "damaged") ancestor = this.#parents[ancestor]!;
    return ancestor;
  }

  /** The last readable row; -1 if there is none. */
  lastEntry(): number {
    let row = this.#count - 1;
    while (row >= 0 && this.kind(row) === "damaged") row--;
    return row;
  }

  /** The last row of a readable kind; -1 if there is none. */
  findLast(kind: EntryKind): number {
    if (this.#count === 0) return -1;
    // The bytes of all readable rows of this kind.
    const bytes = [kindNumber(kind), kindNumber(kind) | reattachedBit];
    return Math.max(...bytes.map((byte) => this.#kinds.lastIndexOf(byte, this.#count - 1)));
  }

  /** The rows of one kind after the row `after`, in the order of the log. */
  rowsOfKind(kind: EntryKind, after = -1): number[] {
    const number = kindNumber(kind);
    const rows: number[] = [];
    for (let row = after + 1; row < this.#count; row++) if ((this.#kinds[row]! & kindBits) === number) rows.push(row);
    return rows;
  }

  countKinds(...kinds: EntryKind[]): number {
    const mask = toMask(kinds);
    let count = 0;
    for (let row = 0; row < this.#count; row++) if ((mask & (1 << (this.#kinds[row]! & kindBits))) !== 0) count++;
    return count;
  }

  /** The rows of all readable entries, or of those from `start` to before `end`. */
  entryRows(start = 0, end = this.#count): number[] {
    const rows: number[] = [];
    for (let row = start; row < end; row++) if (this.kind(row) !== "damaged") rows.push(row);
    return rows;
  }

  /** The readable children of a row; the roots for -1. */
  getChildren(parent: number): number[] {
    return this.entryRows().filter((row) => this.parent(row) === parent);
  }

  /** A copy of the columns as bytes. */
  encode(): Buffer[] {
    const count = this.#count;
    return [this.#offsets, this.#lengths, this.#parents, this.#ids, this.#kinds].map((column) => {
      const { buffer, byteOffset, byteLength } = column.slice(0, count);
      return Buffer.from(buffer, byteOffset, byteLength);
    });
  }

  /** Undefined if the bytes are not a valid table of `count` rows. */
  static async decode(bytes: Buffer, count: number): Promise<EntryTable | undefined> {
    if (bytes.length !== count * bytesPerRow) return undefined;
    const table = new EntryTable();
    // Typed arrays need aligned bytes, so the columns are copied.
    let position = bytes.byteOffset;
    const take = (size: number) => {
      const start = position;
      position += size * count;
      return bytes.buffer.slice(start, position) as ArrayBuffer;
    };
    table.#count = count;
    table.#offsets = new Float64Array(take(8));
    table.#lengths = new Uint32Array(take(4));
    table.#parents = new Int32Array(take(4));
    table.#ids = new Int32Array(take(4));
    table.#kinds = new Uint8Array(take(1));
    return (await table.#isValid()) ? table : undefined;
  }

  /** Parents come before their children, so that every walk to a root ends. */
  async #isValid(): Promise<boolean> {
    // A session is opened cold, where each access to a private field takes long.
    const [parents, kinds] = [this.#parents, this.#kinds];
    for (let row = 0; row < this.#count; row++) {
      if (row % rowsPerTurn === rowsPerTurn - 1) await nextTurn();
      const parent = parents[row]!;
      if (parent < -1 || parent >= row) return false;
      if ((kinds[row]! & kindBits) === damaged || parent === this.#childless) this.#updateDamaged(row);
    }
    return true;
  }

  #grow(size: number): void {
    const copy = <T extends { set(source: T): void }>(target: T, source: T): T => {
      target.set(source);
      return target;
    };
    this.#offsets = copy(new Float64Array(size), this.#offsets);
    this.#lengths = copy(new Uint32Array(size), this.#lengths);
    this.#parents = copy(new Int32Array(size), this.#parents);
    this.#ids = copy(new Int32Array(size), this.#ids);
    this.#kinds = copy(new Uint8Array(size), this.#kinds);
  }
}

const bytesPerRow = 8 + 4 + 4 + 4 + 1;

/** How many rows are looked at before signals and timers are served. */
const rowsPerTurn = 1_000_000;

const toMask = (kinds: readonly EntryKind[]) => kinds.reduce((mask, kind) => mask | (1 << kindNumber(kind)), 0);

const plainId = /^[0-9a-f]{8}$/;

/** Whether no other id has the same number. */
export const isPlainId = (id: string) => plainId.test(id);

/** An id as a signed 32-bit number, which V8 stores without an object. */
export function idNumber(id: string): number {
  if (plainId.test(id)) return Number.parseInt(id, 16) | 0;
  // FNV-1a: good enough to find candidates.
  let hash = 0x811c9dc5;
  for (let index = 0; index < id.length; index++) hash = Math.imul(hash ^ id.charCodeAt(index), 0x01000193);
  return hash | 0;
}
