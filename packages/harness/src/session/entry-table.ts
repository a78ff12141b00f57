/**
 * Where each entry of a log is and what it hangs on, in columns of numbers: a hundred thousand entries are two and a
 * half megabytes and cost no object each. It says nothing of their content, which is always read from the log.
 */
/** What an entry is, as a number that can be looked through quickly. */
export const kinds = [
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
  // Behind the others: what is written in an index keeps its number.
  "queue",
  "prefix",
] as const;
export type EntryKind = (typeof kinds)[number];

const kindNumbers = new Map<string, number>(kinds.map((kind, number) => [kind, number]));
const entryTypes = new Set<string>(kinds.slice(kinds.indexOf("model_change")).filter((kind) => kind !== "unknown"));
const kindNumber = (kind: EntryKind) => kindNumbers.get(kind) ?? 0;

const damaged = kindNumber("damaged");

/** What a byte of the kinds holds: the kind, whether its id is unknown, and whether it was re-attached. */
const [kindBits, namelessBit, reattachedBit] = [0x3f, 0x40, 0x80];

/** What a line with this type, and for a message this role, is. */
export function getKind(type: string, role: unknown): EntryKind {
  if (type === "message") return role === "user" || role === "assistant" || role === "toolResult" ? role : "message";
  return entryTypes.has(type) ? (type as EntryKind) : "unknown";
}

/** One row, by its number. */
export interface EntryRow {
  offset: number;
  length: number;
  /** The row of its parent; -1 for a root. */
  parent: number;
  /** See `idNumber`; undefined for a damaged entry that does not even tell its id. */
  id: number | undefined;
  kind: EntryKind;
  /** Its real parent is lost. */
  isReattached: boolean;
}

/** How many rows are looked through, in all searches together, before looking them up is worth a map. */
const maxSearched = 4_000_000;

export class EntryTable {
  #count = 0;
  #offsets = new Float64Array(64);
  #lengths = new Uint32Array(64);
  #parents = new Int32Array(64);
  #ids = new Int32Array(64);
  /** See `kindBits`. */
  #kinds = new Uint8Array(64);
  /** The latest damaged row that nobody hangs on yet; -1 when there is none. */
  #childless = -1;
  #searched = 0;
  /** The latest row of each id; made when it is worth it. */
  #rows: Map<number, number> | undefined;

  get count(): number {
    return this.#count;
  }

  add({ offset, length, parent, id, kind, isReattached }: EntryRow): number {
    const row = this.#count++;
    if (row === this.#kinds.length) this.#grow(row * 2);
    this.#offsets[row] = offset;
    this.#lengths[row] = length;
    this.#parents[row] = parent;
    this.#ids[row] = id ?? 0;
    this.#kinds[row] = kindNumber(kind) | (isReattached ? reattachedBit : 0) | (id === undefined ? namelessBit : 0);
    if (id !== undefined) this.#rows?.set(id, row);
    this.#watch(row);
    return row;
  }

  #watch(row: number): void {
    if (this.#parents[row] === this.#childless) this.#childless = -1;
    if ((this.#kinds[row]! & kindBits) === damaged) this.#childless = row;
  }

  /**
   * Where to hang what has lost its parent: on the damaged row that is likely to have been it, which is known by this id
   * from now on, else on the last one.
   */
  standIn(id: number): number {
    const row = this.#childless;
    if (row < 0 || Number.isNaN(id)) return this.#count - 1;
    this.#ids[row] = id;
    this.#kinds[row]! &= ~namelessBit;
    this.#rows?.set(id, row);
    return row;
  }

  offset = (row: number): number => this.#offsets[row]!;
  length = (row: number): number => this.#lengths[row]!;
  parent = (row: number): number => this.#parents[row]!;
  /** See `idNumber`; says nothing for a damaged row. */
  id = (row: number): number => this.#ids[row]!;
  kind = (row: number): EntryKind => kinds[this.#kinds[row]! & kindBits] ?? "unknown";
  isReattached = (row: number): boolean => (this.#kinds[row]! & reattachedBit) !== 0;
  /** Every number is somebody's id, so that a row has none is said beside it. */
  #isNameless = (row: number): boolean => (this.#kinds[row]! & namelessBit) !== 0;

  /**
   * The latest row with this number for an id; -1 when there is none. Ids of eight hex digits are told apart for
   * certain; for others the log has to be asked.
   */
  find(id: number): number {
    if (this.#rows) return this.#rows.get(id) ?? -1;
    // Nearly always it is among the last, where this begins.
    const row = this.#lastNamed(id);
    this.#searched += this.#count - row;
    if (this.#searched > maxSearched) {
      this.#rows = new Map();
      for (let at = 0; at < this.#count; at++) if (!this.#isNameless(at)) this.#rows.set(this.#ids[at]!, at);
    }
    return row;
  }

  #lastNamed(id: number): number {
    for (let before = this.#count; before > 0;) {
      const row = this.#ids.lastIndexOf(id, before - 1);
      if (row < 0 || !this.#isNameless(row)) return row;
      before = row;
    }
    return -1;
  }

  /** The latest row of one of these kinds, from `row` up through its parents; -1 when there is none. */
  ancestor(row: number, ...wanted: EntryKind[]): number {
    // A branch may be a hundred thousand rows long.
    const mask = wanted.reduce((bits, kind) => bits | (1 << kindNumber(kind)), 0);
    let at = row;
    while (at >= 0 && (mask & (1 << (this.#kinds[at]! & kindBits))) === 0) at = this.#parents[at]!;
    return at;
  }

  /** The nearest row that can be read, from `row` up through its parents; -1 when there is none. */
  nearestEntry(row: number): number {
    let at = row;
    while (at >= 0 && this.kind(at) === "damaged") at = this.#parents[at]!;
    return at;
  }

  /** The last row that is an entry; -1 when there is none. */
  lastEntry(): number {
    let row = this.#count - 1;
    while (row >= 0 && this.kind(row) === "damaged") row--;
    return row;
  }

  /** The rows of a kind, in the order of the log. */
  toRows(kind: EntryKind): number[] {
    return this.#rowsWhere((row) => this.kind(row) === kind);
  }

  getCount(kind: EntryKind): number {
    const number = kindNumber(kind);
    let count = 0;
    for (let row = 0; row < this.#count; row++) if ((this.#kinds[row]! & kindBits) === number) count++;
    return count;
  }

  /** The rows of all entries that can be read. */
  entryRows(): number[] {
    return this.#rowsWhere((row) => this.kind(row) !== "damaged");
  }

  /** The rows that hang on one; on nothing, with -1. */
  getChildren(parent: number): number[] {
    return this.#rowsWhere((row) => this.parent(row) === parent && this.kind(row) !== "damaged");
  }

  #rowsWhere(isWanted: (row: number) => boolean): number[] {
    const rows: number[] = [];
    for (let row = 0; row < this.#count; row++) if (isWanted(row)) rows.push(row);
    return rows;
  }

  /** The columns as bytes. */
  encode(): Buffer {
    const count = this.#count;
    return Buffer.concat(
      [this.#offsets, this.#lengths, this.#parents, this.#ids, this.#kinds].map((column) => {
        const { buffer, byteOffset, byteLength } = column.subarray(0, count);
        return Buffer.from(buffer, byteOffset, byteLength);
      }),
    );
  }

  /** Undefined when the bytes cannot be a table of so many rows. */
  static decode(bytes: Buffer, count: number): EntryTable | undefined {
    if (bytes.length !== count * bytesPerRow) return undefined;
    const table = new EntryTable();
    // Columns need their bytes aligned, so they are copied.
    let at = 0;
    const take = (size: number) => {
      const from = bytes.byteOffset + at;
      at += size * count;
      return bytes.buffer.slice(from, bytes.byteOffset + at) as ArrayBuffer;
    };
    table.#count = count;
    table.#offsets = new Float64Array(take(8));
    table.#lengths = new Uint32Array(take(4));
    table.#parents = new Int32Array(take(4));
    table.#ids = new Int32Array(take(4));
    table.#kinds = new Uint8Array(take(1));
    return table.#isSound() ? table : undefined;
  }

  /** Parents come before their children: whoever walks up arrives. */
  #isSound(): boolean {
    for (let row = 0; row < this.#count; row++) {
      const parent = this.#parents[row]!;
      if (parent < -1 || parent >= row) return false;
      this.#watch(row);
    }
    return true;
  }

  #grow(wanted: number): void {
    const size = Math.max(64, wanted);
    const copy = <T extends { set(from: T): void }>(to: T, from: T): T => {
      to.set(from);
      return to;
    };
    this.#offsets = copy(new Float64Array(size), this.#offsets);
    this.#lengths = copy(new Uint32Array(size), this.#lengths);
    this.#parents = copy(new Int32Array(size), this.#parents);
    this.#ids = copy(new Int32Array(size), this.#ids);
    this.#kinds = copy(new Uint8Array(size), this.#kinds);
  }
}

const bytesPerRow = 8 + 4 + 4 + 4 + 1;

const plainId = /^[0-9a-f]{8}$/;

/** Whether an id is told apart from every other by its number. */
export const isPlainId = (id: string) => plainId.test(id);

/** An id as 32 bits. With a sign, because those are the numbers that cost no memory of their own. */
export function idNumber(id: string): number {
  if (plainId.test(id)) return Number.parseInt(id, 16) | 0;
  // FNV-1a: good enough to find candidates.
  let hash = 0x811c9dc5;
  for (let at = 0; at < id.length; at++) hash = Math.imul(hash ^ id.charCodeAt(at), 0x01000193);
  return hash | 0;
}
