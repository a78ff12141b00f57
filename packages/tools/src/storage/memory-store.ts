/** Logs that live as long as the process. */
import { type Clock, systemClock } from "@tau/ai";
import {
  type AppendOutcome,
  getLogId,
  mustBeBlobName,
  type LogBusy,
  type LogKey,
  type LogStore,
  type Storage,
} from "./storage.ts";
import { closedError, closedOutcome } from "./closed.ts";

/** A log in memory, which any number of stores may open one after the other. */
export class MemoryLog {
  /** Grows by more than is needed; only the first `size` bytes are used. */
  bytes: Buffer;
  size: number;
  modifiedMs = 0;
  /** The store that has the lease. */
  holder: object | undefined;
  generation = 0;
  /** How often its content was replaced. */
  replacements = 0;
  /** How many stores have it open. */
  users = 0;
  readonly aside: Buffer[] = [];
  readonly blobs = new Map<string, Buffer>();

  constructor(bytes: Uint8Array = Buffer.alloc(0)) {
    this.bytes = Buffer.from(bytes);
    this.size = bytes.length;
  }
}

export interface MemoryStoreOptions {
  name?: string;
  /** Default: a new, empty log. */
  log?: MemoryLog;
  clock?: Clock;
}

export const createMemoryStore = (options: MemoryStoreOptions = {}): LogStore => openMemoryStore(options);

function openMemoryStore({
  name = "memory",
  log = new MemoryLog(),
  clock = systemClock,
  onClose = () => {},
}: MemoryStoreOptions & { onClose?: () => void }): LogStore {
  const self = {};
  /** That of its lease; undefined while it has had none. */
  let generation: number | undefined;
  /** Why nothing can be written any more. */
  let failure: AppendOutcome | undefined;
  let isClosed = false;
  log.users++;
  const fail = (reason: string): AppendOutcome => (failure = { kind: "overtaken", reason });
  /** Undefined if this store may write. One that had the lease may not, once another has had it. */
  const refuse = (): AppendOutcome | undefined => {
    if (failure) return failure;
    if (log.holder && log.holder !== self) return fail("another session of this process writes it");
    const isLost = generation !== undefined && generation !== log.generation;
    return isLost ? fail("another session of this process has taken it over") : undefined;
  };
  const grow = (size: number): AppendOutcome => {
    log.size = size;
    log.modifiedMs = clock.now();
    return { kind: "appended", position: size };
  };
  return {
    name,
    stat: async () => (log.size === 0 ? undefined : { size: log.size, identity: `memory ${log.replacements}` }),
    async read(position, length) {
      if (isClosed) throw closedError(name);
      return Buffer.from(log.bytes.subarray(position, Math.min(position + length, log.size)));
    },
    async append(bytes, { position }) {
      const refusal = refuse();
      if (refusal) return refusal;
      if (position !== log.size) return fail(`the log ends at ${log.size}, not at ${position}`);
      if (log.size + bytes.length > log.bytes.length) {
        const larger = Buffer.alloc(Math.max(1024, 2 * (log.size + bytes.length)));
        log.bytes.copy(larger, 0, 0, log.size);
        log.bytes = larger;
      }
      log.bytes.set(bytes, log.size);
      return grow(log.size + bytes.length);
    },
    sync: async () => true,
    async replace(bytes) {
      const refusal = refuse();
      if (refusal) return refusal;
      log.bytes = Buffer.from(bytes);
      log.replacements++;
      return grow(bytes.length);
    },
    async cut(position) {
      log.aside.push(Buffer.from(log.bytes.subarray(position, log.size)));
      log.size = position;
      return `${name}, aside ${log.aside.length}`;
    },
    async acquire() {
      if (log.holder && log.holder !== self) return busy(log);
      if (log.holder !== self) generation = ++log.generation;
      log.holder = self;
      return { kind: "held", generation: log.generation };
    },
    readIndex: async () => undefined,
    writeIndex: async () => undefined,
    async writeBlob(blob, bytes) {
      mustBeBlobName(blob);
      log.blobs.set(blob, Buffer.from(bytes));
    },
    async readBlob(blob) {
      const bytes = log.blobs.get(blob);
      return bytes && Buffer.from(bytes);
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      failure ??= closedOutcome;
      log.users--;
      if (log.holder === self) log.holder = undefined;
      onClose();
    },
  };
}

const busy = ({ generation }: MemoryLog): LogBusy => ({
  kind: "busy",
  holder: { name: "another session of this process", generation },
});

/** Logs in memory. They are gone when the process ends. */
export function createMemoryStorage({ clock = systemClock }: { clock?: Clock } = {}): Storage {
  const logs = new Map<LogKey, MemoryLog>();
  return {
    name: "memory",
    async open(key) {
      const log = logs.get(key) ?? new MemoryLog();
      logs.set(key, log);
      const onClose = () => {
        if (log.size === 0 && log.users === 0) logs.delete(key);
      };
      return openMemoryStore({ name: getLogId(key), log, clock, onClose });
    },
    list: async (collection) =>
      [...logs].flatMap(([key, { size, modifiedMs }]) =>
        key.startsWith(`${collection}/`) && size > 0 ? [{ key, size, modifiedMs }] : [],
      ),
    async remove(key) {
      const log = logs.get(key);
      if (!log || log.size === 0) return { kind: "missing" };
      if (log.holder) return busy(log);
      // Stores that have the log open read nothing any more, and their appends are refused.
      log.size = 0;
      log.replacements++;
      log.blobs.clear();
      if (log.users === 0) logs.delete(key);
      return { kind: "removed" };
    },
  };
}
