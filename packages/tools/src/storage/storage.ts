/**
 * Where an agent keeps what must outlive it: logs of lines, and blobs that belong to a log. Files, memory, NATS and databases
 * implement it. Each implementation must pass `storageContract` of `@tau/harness/testing`.
 */

/** Only `appended` is an acknowledgement. */
export type AppendOutcome =
  | { kind: "appended"; position: number }
  /** Another writer has changed or replaced the log. The store refuses all further appends. */
  | { kind: "overtaken"; reason: string }
  /** The bytes were not written. With `canRetry`, the log ends where it did and the next append may succeed. */
  | { kind: "failed"; reason: string; canRetry: boolean };

/** The writer that has the lease of a log. */
export interface LogHolder {
  /** For messages, such as `process 4711`. */
  readonly name: string;
  /** Grows whenever a lease is taken over from a holder that was lost. */
  readonly generation: number;
}

export interface LogBusy {
  kind: "busy";
  holder: LogHolder;
  /** For people: what to do where it is not known whether the holder still runs. */
  advice?: string;
}

/** `generation` is 0 if the log does not exist and its lease is only taken with the first append. */
export type AcquireOutcome = { kind: "held"; generation: number } | LogBusy;

/** A log: it appends at a known position, reads ranges, and has the write lease. */
export interface LogStore {
  /** For messages. */
  readonly name: string;
  /** Undefined before the first write. `identity` changes when the log is replaced by another. */
  stat(): Promise<{ size: number; identity: string } | undefined>;
  /** At most `length` bytes from `position` on; fewer at the end. Rejects when the store is closed. */
  read(position: number, length: number): Promise<Buffer>;
  /** Appends whole lines at `position`, which must be the end: all of them or none. With `sync`, they are durable when it resolves. */
  append(bytes: Uint8Array, options: { position: number; sync: boolean }): Promise<AppendOutcome>;
  /** Makes durable what was appended without `sync`. False if the storage refused: the content is then unknown. */
  sync(): Promise<boolean>;
  /** Puts other lines, durably, in the place of all there are: also after a crash, there are either the old ones or the new ones. */
  replace(bytes: Uint8Array): Promise<AppendOutcome>;
  /** Copies the bytes from `position` on aside, then cuts them off. Returns where the copy is; zeros need not be copied. */
  cut(position: number): Promise<string>;
  /** Acquires the write lease, unless a writer holds it that may still run. A writer that was overtaken can append no more. */
  acquire(): Promise<AcquireOutcome>;
  /** The index is a cache and may be lost at any time. */
  readIndex(): Promise<Buffer | undefined>;
  /** Does not reject if the storage refuses. */
  writeIndex(bytes: Uint8Array): Promise<void>;
  /** Keeps a blob that the log refers to, such as a long result or an image: durable when it resolves. See `mustBeBlobName`. */
  writeBlob(name: string, bytes: Uint8Array): Promise<void>;
  /** Undefined if the log has no blob with this name. */
  readBlob(name: string): Promise<Buffer | undefined>;
  /** Waits for pending calls and releases the lease. Does not reject if the storage refuses. */
  close(): Promise<void>;
}

/** `session`: logs of sessions. `record`: what was decided, such as the audit. `gateway`: what a gateway has accepted. */
export type LogCollection = "session" | "record" | "gateway";

export type LogKey = `${LogCollection}/${string}`;

export interface StoredLog {
  readonly key: LogKey;
  readonly size: number;
  /** When it was last written, in milliseconds since 1970. */
  readonly modifiedMs: number;
}

export type RemoveOutcome = { kind: "removed" } | { kind: "missing" } | LogBusy;

export interface Storage {
  /** For messages. */
  readonly name: string;
  /**
   * Opens a log, which begins to exist with its first append. All that open the same key have the same log; with `createdAt`,
   * an ISO date, the key was made for a new log, and nothing needs to be looked for.
   */
  open(key: LogKey, options?: { createdAt?: string }): Promise<LogStore>;
  /** Lists the logs of a collection, in any order. */
  list(collection: LogCollection): Promise<readonly StoredLog[]>;
  /** Removes a log and its blobs for good, unless a writer has it. */
  remove(key: LogKey): Promise<RemoveOutcome>;
}

/** Returns the id in a key. */
export const getLogId = (key: LogKey): string => key.slice(key.indexOf("/") + 1);

/** Throws unless a blob may have this name: letters, digits, `-`, `_` and `.`, at most 128, and no dot first. */
export function mustBeBlobName(name: string): void {
  if (!/^[\w-][\w.-]{0,127}$/.test(name)) throw new TypeError(`${JSON.stringify(name)} is not a name of a blob.`);
}

/** Splits what is appended at a position into its lines, each with its line feed: the rows of a database. Pure. */
export function splitLines(bytes: Uint8Array, position: number): { position: number; line: Uint8Array }[] {
  const lines: { position: number; line: Uint8Array }[] = [];
  for (let start = 0, end = 0; start < bytes.length; start = end) {
    end = bytes.indexOf(0x0a, start) + 1 || bytes.length;
    lines.push({ position: position + start, line: bytes.subarray(start, end) });
  }
  return lines;
}
