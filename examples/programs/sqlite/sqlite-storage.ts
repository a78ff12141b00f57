/**
 * A storage in a SQLite database, which several processes of one machine may share. It needs `node:sqlite`: Node 22.5 or newer.
 * Every line of a log is a row; every append is one transaction that compares the lease and the length of the log.
 */
import { randomUUID } from "node:crypto";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { mustBeBlobName, splitLines } from "@tau/harness/session";
import type { AcquireOutcome, AppendOutcome, LogBusy, LogKey, LogStore } from "@tau/harness/session";
import type { RemoveOutcome, Storage, StoredLog } from "@tau/harness/session";

type LogRow = { identity: string; size: number; generation: number; holder: string | null; expiresMs: number };

const schema = `
  PRAGMA journal_mode = WAL;
  -- What was acknowledged survives a power loss.
  PRAGMA synchronous = FULL;
  CREATE TABLE IF NOT EXISTS logs (
    key TEXT PRIMARY KEY, identity TEXT NOT NULL, size INTEGER NOT NULL DEFAULT 0, modifiedMs INTEGER NOT NULL DEFAULT 0,
    generation INTEGER NOT NULL DEFAULT 0, holder TEXT, expiresMs INTEGER NOT NULL DEFAULT 0
  );
  CREATE TABLE IF NOT EXISTS lines (key TEXT, position INTEGER, line BLOB NOT NULL, PRIMARY KEY (key, position)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS blobs (key TEXT, name TEXT, bytes BLOB NOT NULL, PRIMARY KEY (key, name));
`;

export interface SqliteStorageOptions {
  path: string;
  /** After this long without a sign of life its writer counts as lost. Default 30 seconds. */
  leaseMs?: number;
}

export class SqliteStorage implements Storage {
  readonly name: string;
  readonly leaseMs: number;
  readonly #db: DatabaseSync;
  readonly #held = new Set<string>();
  readonly #renewing: NodeJS.Timeout;

  constructor({ path, leaseMs = 30_000 }: SqliteStorageOptions) {
    this.name = path;
    this.leaseMs = leaseMs;
    this.#db = new DatabaseSync(path);
    this.#db.exec("PRAGMA busy_timeout = 10000");
    this.#db.exec(schema);
    this.#renewing = setInterval(() => this.#renew(), leaseMs / 3).unref();
  }

  async open(key: LogKey): Promise<LogStore> {
    return new SqliteLog(this, key, this.#held);
  }

  async list(collection: string): Promise<StoredLog[]> {
    const sql = "SELECT key, size, modifiedMs FROM logs WHERE size > 0 AND substr(key, 1, ?) = ?";
    return this.all(sql, collection.length + 1, `${collection}/`) as unknown as StoredLog[];
  }

  async remove(key: LogKey): Promise<RemoveOutcome> {
    return this.transact((): RemoveOutcome => {
      const log = this.findLog(key);
      if (!log || log.size === 0) return { kind: "missing" };
      if (isHeld(log)) return toBusy(log);
      for (const table of ["lines", "blobs", "logs"]) this.all(`DELETE FROM ${table} WHERE key = ?`, key);
      return { kind: "removed" };
    });
  }

  close(): void {
    clearInterval(this.#renewing);
    this.#db.close();
  }

  prepare(sql: string) {
    return this.#db.prepare(sql);
  }

  all(sql: string, ...values: SQLInputValue[]): Record<string, unknown>[] {
    return this.prepare(sql).all(...values);
  }

  findLog(key: LogKey): LogRow | undefined {
    const [log] = this.all("SELECT identity, size, generation, holder, expiresMs FROM logs WHERE key = ?", key);
    return log as LogRow | undefined;
  }

  transact<T>(work: () => T): T {
    this.#db.exec("BEGIN IMMEDIATE");
    try {
      const result = work();
      this.#db.exec("COMMIT");
      return result;
    } catch (error) {
      this.#db.exec("ROLLBACK");
      throw error;
    }
  }

  #renew(): void {
    for (const holder of this.#held) {
      try {
        this.all("UPDATE logs SET expiresMs = ? WHERE holder = ?", Date.now() + this.leaseMs, holder);
      } catch {
        // The database is busy. The next turn tries again; a lease that expires meanwhile is still fenced.
      }
    }
  }
}

class SqliteLog implements LogStore {
  readonly name: string;
  readonly #storage: SqliteStorage;
  readonly #key: LogKey;
  /** Holders of this storage whose leases are renewed. */
  readonly #held: Set<string>;
  readonly #holder = `process ${process.pid} (${randomUUID()})`;
  /** That of the lease, once it was acquired. */
  #generation: number | undefined;
  #failure: AppendOutcome | undefined;
  #isClosed = false;

  constructor(storage: SqliteStorage, key: LogKey, held: Set<string>) {
    this.#storage = storage;
    this.#key = key;
    this.#held = held;
    this.name = `${storage.name}#${key}`;
  }

  async stat() {
    const log = this.#storage.findLog(this.#key);
    return log && log.size > 0 ? { size: log.size, identity: log.identity } : undefined;
  }

  async read(position: number, length: number): Promise<Buffer> {
    if (this.#isClosed) throw new Error(`${this.name} is closed.`);
    const first = "coalesce((SELECT max(position) FROM lines WHERE key = ?1 AND position <= ?2), 0)";
    const sql = `SELECT position, line FROM lines WHERE key = ?1 AND position >= ${first} AND position < ?3 ORDER BY position`;
    const rows = this.#storage.all(sql, this.#key, position, position + length) as {
      position: number;
      line: Uint8Array;
    }[];
    const bytes = Buffer.concat(rows.map(({ line }) => line));
    const start = position - (rows[0]?.position ?? 0);
    return bytes.subarray(start, start + length);
  }

  async append(bytes: Uint8Array, { position }: { position: number }): Promise<AppendOutcome> {
    return this.#write((log) => {
      if (log.size !== position)
        return { kind: "overtaken", reason: `it has ${log.size} bytes instead of ${position}` };
      return this.#insert(bytes, position);
    });
  }

  async replace(bytes: Uint8Array): Promise<AppendOutcome> {
    return this.#write(() => {
      this.#storage.all("DELETE FROM lines WHERE key = ?", this.#key);
      this.#storage.all("UPDATE logs SET identity = ? WHERE key = ?", randomUUID(), this.#key);
      return this.#insert(bytes, 0);
    });
  }

  /** Every transaction is durable. */
  sync = async () => this.#failure?.kind !== "failed";

  async cut(position: number): Promise<string> {
    const size = (await this.stat())?.size ?? 0;
    const tail = await this.read(position, size - position);
    const copy = `torn-${randomUUID()}`;
    await this.writeBlob(copy, tail);
    const outcome = this.#write(() => {
      this.#storage.all("DELETE FROM lines WHERE key = ? AND position >= ?", this.#key, position);
      const sql =
        "UPDATE lines SET line = substr(line, 1, ?1 - position) WHERE key = ?2 AND position + length(line) > ?1";
      this.#storage.all(sql, position, this.#key);
      this.#storage.all("UPDATE logs SET size = ? WHERE key = ?", position, this.#key);
      return { kind: "appended", position };
    });
    if (outcome.kind !== "appended") throw new Error(`${this.name} could not be cut: ${outcome.reason}.`);
    return `the blob ${copy}`;
  }

  async acquire(): Promise<AcquireOutcome> {
    return this.#storage.transact((): AcquireOutcome => {
      const log = this.#findOrCreate();
      if (log.holder === this.#holder) return { kind: "held", generation: log.generation };
      if (isHeld(log)) return toBusy(log);
      const generation = log.generation + 1;
      const sql = "UPDATE logs SET holder = ?, generation = ?, expiresMs = ? WHERE key = ?";
      this.#storage.all(sql, this.#holder, generation, Date.now() + this.#storage.leaseMs, this.#key);
      this.#generation = generation;
      this.#held.add(this.#holder);
      return { kind: "held", generation };
    });
  }

  readIndex = () => this.readBlob("index");

  writeIndex = (bytes: Uint8Array) => this.writeBlob("index", bytes).catch(() => undefined);

  async writeBlob(name: string, bytes: Uint8Array): Promise<void> {
    mustBeBlobName(name);
    this.#storage.all("INSERT OR REPLACE INTO blobs (key, name, bytes) VALUES (?, ?, ?)", this.#key, name, bytes);
  }

  async readBlob(name: string): Promise<Buffer | undefined> {
    const [row] = this.#storage.all("SELECT bytes FROM blobs WHERE key = ? AND name = ?", this.#key, name);
    return row && Buffer.from(row["bytes"] as Uint8Array);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#failure ??= { kind: "failed", reason: "it is closed", canRetry: false };
    if (!this.#held.delete(this.#holder)) return;
    this.#storage.all("UPDATE logs SET holder = NULL WHERE key = ? AND holder = ?", this.#key, this.#holder);
  }

  /** Writes in one transaction, unless the lease is another's. */
  #write(work: (log: LogRow) => AppendOutcome): AppendOutcome {
    if (this.#failure) return this.#failure;
    try {
      const outcome = this.#storage.transact(() => {
        const log = this.#findOrCreate();
        const isMine = log.holder === this.#holder && log.generation === this.#generation;
        if (this.#generation === undefined ? isHeld(log) : !isMine)
          return { kind: "overtaken", reason: `${log.holder} has taken it over` } as const;
        return work(log);
      });
      return outcome.kind === "overtaken" ? (this.#failure = outcome) : outcome;
    } catch (error) {
      return { kind: "failed", reason: String(error), canRetry: true };
    }
  }

  #findOrCreate(): LogRow {
    this.#storage.all("INSERT OR IGNORE INTO logs (key, identity) VALUES (?, ?)", this.#key, randomUUID());
    return this.#storage.findLog(this.#key)!;
  }

  #insert(bytes: Uint8Array, start: number): AppendOutcome {
    const insert = this.#storage.prepare("INSERT INTO lines (key, position, line) VALUES (?, ?, ?)");
    for (const { position, line } of splitLines(bytes, start)) insert.all(this.#key, position, line);
    const size = start + bytes.length;
    this.#storage.all("UPDATE logs SET size = ?, modifiedMs = ? WHERE key = ?", size, Date.now(), this.#key);
    return { kind: "appended", position: size };
  }
}

const isHeld = ({ holder, expiresMs }: LogRow): boolean => holder !== null && expiresMs > Date.now();

const toBusy = ({ holder, generation }: LogRow): LogBusy => ({ kind: "busy", holder: { name: holder!, generation } });
