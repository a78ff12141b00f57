/**
 * A storage in Postgres, which several machines may share. Every line of a log is a row; every append is one transaction that compares
 * the lease and the length of the log. The clock is the server's.
 */
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { mustBeBlobName, splitLines } from "@tau/harness/session";
import type { AcquireOutcome, AppendOutcome, LogBusy, LogKey, LogStore } from "@tau/harness/session";
import type { RemoveOutcome, Storage, StoredLog } from "@tau/harness/session";
import type { Pool } from "pg";

type LogRow = { identity: string; size: number; generation: number; holder: string | null; isHeld: boolean };
type Query = <Row>(sql: string, ...values: unknown[]) => Promise<Row[]>;

const selectLog = `SELECT identity, size::float8 AS size, generation, holder,
  (holder IS NOT NULL AND expires > clock_timestamp()) AS "isHeld" FROM tau_logs WHERE key = $1`;

const tables = `
  CREATE TABLE IF NOT EXISTS tau_logs (
    key text PRIMARY KEY, identity text NOT NULL, size bigint NOT NULL DEFAULT 0, modified timestamptz NOT NULL DEFAULT now(),
    generation integer NOT NULL DEFAULT 0, holder text, expires timestamptz NOT NULL DEFAULT now()
  );
  CREATE TABLE IF NOT EXISTS tau_lines (key text, position bigint, line bytea NOT NULL, PRIMARY KEY (key, position));
  CREATE TABLE IF NOT EXISTS tau_blobs (key text, name text, bytes bytea NOT NULL, PRIMARY KEY (key, name));
`;
const newExpiry = (leaseMs: string) => `clock_timestamp() + ${leaseMs} * interval '1 millisecond'`;

export class PostgresStorage implements Storage {
  readonly name = "Postgres";
  readonly leaseMs: number;
  readonly #pool: Pool;
  /** The holders whose leases are renewed. */
  readonly held = new Set<string>();
  readonly #renewing: NodeJS.Timeout;

  private constructor(pool: Pool, leaseMs: number) {
    this.#pool = pool;
    this.leaseMs = leaseMs;
    this.#renewing = setInterval(() => void this.#renew(), leaseMs / 3).unref();
  }

  /** Creates the tables that are missing. A writer without a sign of life for `leaseMs` counts as lost. */
  static async open(pool: Pool, { leaseMs = 30_000 }: { leaseMs?: number } = {}): Promise<PostgresStorage> {
    const storage = new PostgresStorage(pool, leaseMs);
    await storage.transact(async (query) => {
      // Two processes that create a table at once would disturb each other.
      await query("SELECT pg_advisory_xact_lock(782185)");
      await query(tables);
    });
    return storage;
  }

  async open(key: LogKey): Promise<LogStore> {
    return new PostgresLog(this, key);
  }

  async list(collection: string): Promise<StoredLog[]> {
    const columns = 'key, size::float8 AS size, (extract(epoch FROM modified) * 1000)::float8 AS "modifiedMs"';
    const sql = `SELECT ${columns} FROM tau_logs WHERE size > 0 AND starts_with(key, $1)`;
    return await this.query<StoredLog>(sql, `${collection}/`);
  }

  async remove(key: LogKey): Promise<RemoveOutcome> {
    return await this.transact(async (query): Promise<RemoveOutcome> => {
      const [log] = await query<LogRow>(`${selectLog} FOR UPDATE`, key);
      if (!log || log.size === 0) return { kind: "missing" };
      if (log.isHeld) return toBusy(log);
      for (const table of ["lines", "blobs", "logs"]) await query(`DELETE FROM tau_${table} WHERE key = $1`, key);
      return { kind: "removed" };
    });
  }

  /** The pool is closed by whoever opened it. */
  close(): void {
    clearInterval(this.#renewing);
  }

  readonly query: Query = async (sql, ...values) => (await this.#pool.query(sql, values)).rows as never;

  async transact<T>(work: (query: Query) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect();
    try {
      await client.query("BEGIN");
      const result = await work(async (sql, ...values) => (await client.query(sql, values)).rows as never);
      await client.query("COMMIT");
      client.release();
      return result;
    } catch (error) {
      // Closes the connection, with which the server rolls back.
      client.release(error);
      throw error;
    }
  }

  /** If it fails, the next turn tries again. A lease that expires meanwhile is still fenced. */
  async #renew(): Promise<void> {
    const sql = `UPDATE tau_logs SET expires = ${newExpiry("$2")} WHERE holder = ANY($1)`;
    if (this.held.size > 0) await this.query(sql, [...this.held], this.leaseMs).catch(() => undefined);
  }
}

class PostgresLog implements LogStore {
  readonly name: string;
  readonly #storage: PostgresStorage;
  readonly #key: LogKey;
  readonly #holder = `process ${process.pid} of ${hostname()} (${randomUUID()})`;
  /** That of the lease, once it was acquired. */
  #generation: number | undefined;
  #failure: AppendOutcome | undefined;
  #isClosed = false;

  constructor(storage: PostgresStorage, key: LogKey) {
    this.#storage = storage;
    this.#key = key;
    this.name = `${storage.name} ${key}`;
  }

  async stat() {
    const [log] = await this.#storage.query<LogRow>(selectLog, this.#key);
    return log && log.size > 0 ? { size: log.size, identity: log.identity } : undefined;
  }

  async read(position: number, length: number): Promise<Buffer> {
    if (this.#isClosed) throw new Error(`${this.name} is closed.`);
    const first = "coalesce((SELECT max(position) FROM tau_lines WHERE key = $1 AND position <= $2), 0)";
    const lines = `SELECT line, position FROM tau_lines WHERE key = $1 AND position >= ${first} AND position < $3`;
    const sql = `SELECT min(position)::float8 AS start, string_agg(line, '' ORDER BY position) AS bytes FROM (${lines}) AS lines`;
    const [found] = await this.#query<{ start: number; bytes: Buffer | null }>(sql, position, position + length);
    const skipped = position - (found?.start ?? 0);
    return found?.bytes?.subarray(skipped, skipped + length) ?? Buffer.alloc(0);
  }

  append(bytes: Uint8Array, { position }: { position: number }): Promise<AppendOutcome> {
    return this.#write(async (query, { size }) => {
      if (size !== position) return { kind: "overtaken", reason: `it has ${size} bytes instead of ${position}` };
      return await this.#insert(query, bytes, position);
    });
  }

  replace(bytes: Uint8Array): Promise<AppendOutcome> {
    return this.#write(async (query) => {
      await query("DELETE FROM tau_lines WHERE key = $1", this.#key);
      await query("UPDATE tau_logs SET identity = $2 WHERE key = $1", this.#key, randomUUID());
      return await this.#insert(query, bytes, 0);
    });
  }

  sync = async () => this.#failure?.kind !== "failed";

  async cut(position: number): Promise<string> {
    const { size } = (await this.stat()) ?? { size: position };
    const copy = `torn-${randomUUID()}`;
    await this.writeBlob(copy, await this.read(position, size - position));
    const outcome = await this.#write(async (query) => {
      await query("DELETE FROM tau_lines WHERE key = $1 AND position >= $2", this.#key, position);
      const sql = "UPDATE tau_lines SET line = substr(line, 1, ($2 - position)::integer) WHERE key = $1";
      await query(`${sql} AND position + length(line) > $2`, this.#key, position);
      await query("UPDATE tau_logs SET size = $2 WHERE key = $1", this.#key, position);
      return { kind: "appended", position };
    });
    if (outcome.kind !== "appended") throw new Error(`${this.name} could not be cut: ${outcome.reason}.`);
    return `the blob ${copy}`;
  }

  acquire(): Promise<AcquireOutcome> {
    return this.#storage.transact(async (query): Promise<AcquireOutcome> => {
      const log = await this.#lock(query);
      if (log.holder === this.#holder) return { kind: "held", generation: log.generation };
      if (log.isHeld) return toBusy(log);
      const sql = `UPDATE tau_logs SET holder = $2, generation = $3, expires = ${newExpiry("$4")} WHERE key = $1`;
      this.#generation = log.generation + 1;
      await query(sql, this.#key, this.#holder, this.#generation, this.#storage.leaseMs);
      this.#storage.held.add(this.#holder);
      return { kind: "held", generation: this.#generation };
    });
  }

  readIndex = () => this.readBlob("index");
  writeIndex = (bytes: Uint8Array) => this.writeBlob("index", bytes).catch(() => undefined);

  async writeBlob(name: string, bytes: Uint8Array): Promise<void> {
    mustBeBlobName(name);
    const update = "ON CONFLICT (key, name) DO UPDATE SET bytes = $3";
    await this.#query(`INSERT INTO tau_blobs (key, name, bytes) VALUES ($1, $2, $3) ${update}`, name, bytes);
  }

  async readBlob(name: string): Promise<Buffer | undefined> {
    const sql = "SELECT bytes FROM tau_blobs WHERE key = $1 AND name = $2";
    return (await this.#query<{ bytes: Buffer }>(sql, name))[0]?.bytes;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#failure ??= { kind: "failed", reason: "it is closed", canRetry: false };
    const sql = "UPDATE tau_logs SET holder = NULL WHERE key = $1 AND holder = $2";
    // A lease that cannot be given back expires.
    if (this.#storage.held.delete(this.#holder)) await this.#query(sql, this.#holder).catch(() => undefined);
  }

  #query<Row>(sql: string, ...values: unknown[]): Promise<Row[]> {
    return this.#storage.query<Row>(sql, this.#key, ...values);
  }

  /** Writes in one transaction, unless the lease is another's. */
  async #write(work: (query: Query, log: LogRow) => Promise<AppendOutcome>): Promise<AppendOutcome> {
    if (this.#failure) return this.#failure;
    let isWritten = false;
    try {
      const outcome = await this.#storage.transact(async (query): Promise<AppendOutcome> => {
        const log = await this.#lock(query);
        const isMine = log.holder === this.#holder && log.generation === this.#generation;
        if (this.#generation === undefined ? log.isHeld : !isMine)
          return { kind: "overtaken", reason: `${log.holder} has taken it over` };
        const result = await work(query, log);
        isWritten = true;
        return result;
      });
      return outcome.kind === "overtaken" ? (this.#failure = outcome) : outcome;
    } catch (error) {
      const outcome: AppendOutcome = { kind: "failed", reason: String(error), canRetry: !isWritten };
      // Nobody knows whether it was committed.
      return isWritten ? (this.#failure = outcome) : outcome;
    }
  }

  /** The row of the log, which no other transaction changes until this one ends. */
  async #lock(query: Query): Promise<LogRow> {
    const insert = "INSERT INTO tau_logs (key, identity) VALUES ($1, $2) ON CONFLICT DO NOTHING";
    await query(insert, this.#key, randomUUID());
    return (await query<LogRow>(`${selectLog} FOR UPDATE`, this.#key))[0]!;
  }

  async #insert(query: Query, bytes: Uint8Array, start: number): Promise<AppendOutcome> {
    const lines = splitLines(bytes, start);
    const sql = "INSERT INTO tau_lines (key, position, line) SELECT $1, * FROM unnest($2::bigint[], $3::bytea[])";
    const positions = lines.map(({ position }) => position);
    await query(
      sql,
      this.#key,
      positions,
      lines.map(({ line }) => Buffer.from(line)),
    );
    const end = start + bytes.length;
    await query("UPDATE tau_logs SET size = $2, modified = now() WHERE key = $1", this.#key, end);
    return { kind: "appended", position: end };
  }
}

const toBusy = ({ holder, generation }: LogRow): LogBusy => ({ kind: "busy", holder: { name: holder!, generation } });
