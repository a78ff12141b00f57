/**
 * A log of records that is only appended to. A record is valid once it is durable; it is then passed to `take`, in
 * order, and nothing else. When the log is large, it is replaced by what still matters.
 */
import { getErrorMessage } from "@tau/ai/internal";
import { encodeLine, type LogKey, type LogStore, type Storage } from "@tau/harness/session";
import { systemCode } from "@tau/tools/platform";
import { GatewayError } from "../errors.ts";
import { parseRecords } from "./parse-records.ts";

export interface JournalOptions<Record extends object> {
  storage: Storage;
  key: LogKey;
  /** Called with each record that is durable: first those of the log, then each one that is appended. */
  take: (record: Record) => void;
  /** Records that lead to the same state as all that were taken so far. */
  snapshot: () => Iterable<Record>;
  /** The log is replaced when it is larger than this, and than four times what it had afterwards. Default 4 MiB. */
  maxBytes?: number;
  /** Reports damage, and when the storage begins to refuse. */
  log?: (line: string) => void;
}

interface Pending<Record> {
  record: Record;
  line: Buffer;
  resolve: () => void;
  reject: (error: Error) => void;
}

const defaultMaxBytes = 4 * 1024 * 1024;

export class Journal<Record extends object> {
  readonly #options: Required<JournalOptions<Record>>;
  readonly #store: LogStore;
  /** Where the log ends. */
  #end: number;
  /** It is replaced when it is larger. */
  #rewriteAt: number;
  #pending: Pending<Record>[] = [];
  #work: Promise<void> | undefined;
  /** Why nothing can be written any more. */
  #failure: GatewayError | undefined;
  /** The last write failed. */
  #isRefused = false;
  #isClosed = false;

  private constructor(options: Required<JournalOptions<Record>>, store: LogStore, end: number) {
    this.#options = options;
    this.#store = store;
    this.#end = end;
    this.#rewriteAt = options.maxBytes;
  }

  /** Throws `unavailable` if another process writes the log, or the storage refuses. */
  static async open<Record extends object>(given: JournalOptions<Record>): Promise<Journal<Record>> {
    const options = { maxBytes: defaultMaxBytes, log: () => {}, ...given };
    const store = await options.storage.open(options.key);
    try {
      const end = await readInto(store, options);
      return new Journal(options, store, end);
    } catch (error) {
      await store.close();
      if (systemCode(error) === undefined) throw error;
      throw new GatewayError("unavailable", `${store.name} cannot be used: ${getErrorMessage(error)}`);
    }
  }

  /** Resolves when the record is durable and was taken. Rejects with `unavailable` if it is not. */
  append(record: Record): Promise<void> {
    if (this.#isClosed) return Promise.reject(new GatewayError("unavailable", "The gateway is stopping."));
    if (this.#failure) return Promise.reject(this.#failure);
    const line = encodeLine(record);
    return new Promise((resolve, reject) => {
      this.#pending.push({ record, line, resolve, reject });
      this.#work ??= this.#writeAll();
    });
  }

  /** Waits for what was appended, and lets another process have the log. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#work;
    await this.#store.close();
  }

  async #writeAll(): Promise<void> {
    // What is appended meanwhile shares one write.
    await Promise.resolve();
    while (this.#pending.length > 0) {
      const batch = this.#pending;
      this.#pending = [];
      const failure = this.#failure ?? (await this.#write(Buffer.concat(batch.map(({ line }) => line))));
      for (const { record, resolve, reject } of batch) {
        if (failure) reject(failure);
        else {
          this.#options.take(record);
          resolve();
        }
      }
      if (!failure && this.#end > this.#rewriteAt) await this.#rewrite();
    }
    this.#work = undefined;
  }

  async #write(bytes: Buffer): Promise<GatewayError | undefined> {
    const outcome = await this.#store.append(bytes, { position: this.#end, sync: true });
    if (outcome.kind === "appended") {
      this.#end = outcome.position;
      this.#isRefused = false;
      return undefined;
    }
    const failure = this.#createFailure(outcome.reason);
    if (!this.#isRefused) this.#options.log(failure.message);
    this.#isRefused = true;
    if (outcome.kind === "overtaken" || !outcome.canRetry) this.#failure = failure;
    return failure;
  }

  #createFailure(reason: string): GatewayError {
    const advice =
      "Nothing that was accepted before is lost. Fix that and try again; the gateway may have to be restarted.";
    return new GatewayError("unavailable", `${this.#store.name} could not be written: ${reason}. ${advice}`);
  }

  async #rewrite(): Promise<void> {
    const { snapshot, maxBytes } = this.#options;
    const bytes = Buffer.concat([...snapshot()].map(encodeLine));
    const outcome = await this.#store.replace(bytes);
    if (outcome.kind === "appended") {
      this.#end = outcome.position;
      this.#rewriteAt = Math.max(maxBytes, bytes.length * 4);
    } else if (outcome.kind === "failed" && outcome.canRetry) {
      // Perhaps there is more space later. If it was replaced all the same, the next append is overtaken.
      this.#rewriteAt = this.#end * 2;
    } else {
      this.#failure = this.#createFailure(outcome.reason);
    }
  }
}

/** Takes all whole records of a log, and cuts off what a crash left of the last one. Returns where the log ends. */
async function readInto<Record extends object>(
  store: LogStore,
  { take, log }: Required<JournalOptions<Record>>,
): Promise<number> {
  const lease = await store.acquire();
  if (lease.kind === "busy") {
    const text = `${store.name} is used by ${lease.holder.name}: another gateway of this account is running. Stop it first.`;
    throw new GatewayError("unavailable", text);
  }
  const stats = await store.stat();
  if (!stats) return 0;
  const { records, damaged, end } = parseRecords(await store.read(0, stats.size));
  if (damaged > 0)
    log(`${store.name} is damaged: ${damaged === 1 ? "a record" : `${damaged} records`} could not be read.`);
  for (const record of records) take(record as Record);
  if (end < stats.size) await store.cut(end);
  return end;
}
