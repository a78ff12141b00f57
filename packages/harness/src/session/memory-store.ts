import type { LeaseHolder } from "@tau/tools/platform";
import { type AppendOutcome, closedError, closedOutcome, type LogStore } from "./store.ts";

/** A log in memory, which any number of stores may open one after the other. */
export class MemoryLog {
  /** Grows by more than is needed; only the first `size` bytes are used. */
  bytes: Buffer;
  size: number;
  holder: LeaseHolder | undefined;
  generation = 0;
  readonly aside: Buffer[] = [];

  constructor(bytes: Uint8Array = Buffer.alloc(0)) {
    this.bytes = Buffer.from(bytes);
    this.size = bytes.length;
  }
}

export interface MemoryStoreOptions {
  name?: string;
  /** Default: a new, empty log. */
  log?: MemoryLog;
}

export function createMemoryStore({ name = "memory", log = new MemoryLog() }: MemoryStoreOptions = {}): LogStore {
  const generation = ++log.generation;
  const self: LeaseHolder = { id: `${name}-${generation}`, pid: process.pid, startTime: "", bootId: "", generation };
  /** Why nothing can be written any more. */
  let failure: AppendOutcome | undefined;
  let isClosed = false;
  return {
    name,
    stat: async () => (log.size === 0 ? undefined : { size: log.size, identity: "memory" }),
    async read(position, length) {
      if (isClosed) throw closedError(name);
      return Buffer.from(log.bytes.subarray(position, Math.min(position + length, log.size)));
    },
    async append(bytes, { position }) {
      if (failure) return failure;
      if (position !== log.size)
        return (failure = { kind: "overtaken", reason: `the log ends at ${log.size}, not at ${position}` });
      if (log.size + bytes.length > log.bytes.length) {
        const larger = Buffer.alloc(Math.max(1024, 2 * (log.size + bytes.length)));
        log.bytes.copy(larger, 0, 0, log.size);
        log.bytes = larger;
      }
      log.bytes.set(bytes, log.size);
      log.size += bytes.length;
      return { kind: "appended", position: log.size };
    },
    sync: async () => true,
    async cut(position) {
      log.aside.push(Buffer.from(log.bytes.subarray(position, log.size)));
      log.size = position;
      return `${name}, aside ${log.aside.length}`;
    },
    async acquire() {
      if (log.holder && log.holder !== self) return { kind: "busy", holder: log.holder };
      log.holder = self;
      return { kind: "held" };
    },
    readIndex: async () => undefined,
    writeIndex: async () => undefined,
    async close() {
      isClosed = true;
      failure ??= closedOutcome;
      if (log.holder === self) log.holder = undefined;
    },
  };
}
