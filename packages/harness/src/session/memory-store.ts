import type { LeaseHolder } from "@tau/tools/platform";
import { type AppendOutcome, closedError, type LogStore } from "./store.ts";

/** A log in memory, which any number of stores may open one after the other. */
export class MemoryLog {
  bytes: Buffer = Buffer.alloc(0);
  /** How much of `bytes` is used: they grow by more than was asked for. */
  size = 0;
  holder: LeaseHolder | undefined;
  generation = 0;
  modifiedMs = 0;
  readonly aside: Buffer[] = [];
}

export interface MemoryStoreOptions {
  name?: string;
  /** Default: a new, empty one. */
  log?: MemoryLog;
  /** When something was written. Default: never. */
  now?: () => number;
}

export function createMemoryStore({
  name = "memory",
  log = new MemoryLog(),
  now = () => 0,
}: MemoryStoreOptions = {}): LogStore {
  const me: LeaseHolder = {
    id: `${name}-${++log.generation}`,
    pid: process.pid,
    startTime: "",
    bootId: "",
    generation: log.generation,
  };
  /** Why nothing can be written any more. */
  let dead: AppendOutcome | undefined;
  let isClosed = false;
  return {
    name,
    stat: async () => (log.size === 0 ? undefined : { size: log.size, identity: "memory", modifiedMs: log.modifiedMs }),
    async read(position, length) {
      if (isClosed) throw closedError(name);
      return Buffer.from(log.bytes.subarray(position, Math.min(position + length, log.size)));
    },
    async append(bytes, { position }) {
      if (dead) return dead;
      if (position !== log.size)
        return (dead = { kind: "overtaken", reason: `the log ends at ${log.size}, not at ${position}` });
      if (log.size + bytes.length > log.bytes.length) {
        const larger = Buffer.alloc(Math.max(1024, 2 * (log.size + bytes.length)));
        log.bytes.copy(larger, 0, 0, log.size);
        log.bytes = larger;
      }
      log.bytes.set(bytes, log.size);
      log.size += bytes.length;
      log.modifiedMs = now();
      return { kind: "appended", position: log.size };
    },
    sync: async () => true,
    async cut(position) {
      log.aside.push(Buffer.from(log.bytes.subarray(position, log.size)));
      log.size = position;
      return `${name}, aside ${log.aside.length}`;
    },
    async acquire() {
      if (log.holder && log.holder !== me) return { kind: "busy", holder: log.holder };
      log.holder = me;
      return { kind: "held" };
    },
    readIndex: async () => undefined,
    writeIndex: async () => undefined,
    async close() {
      isClosed = true;
      dead ??= { kind: "failed", reason: "the session is closed", canRetry: false };
      if (log.holder === me) log.holder = undefined;
    },
  };
}
