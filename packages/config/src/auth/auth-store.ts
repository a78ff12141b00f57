/** A store of credentials, which makes one change at a time. */
import { SerialQueue } from "@tau/ai/internal";
import type { Path } from "../fields/field.ts";
import type { AuthEntries } from "./auth-file.ts";

/** Without `entries` nothing is changed. */
export interface Change<T> {
  result: T;
  entries?: AuthEntries;
}

export interface AuthStore {
  /** For messages. */
  readonly name: string;
  /** Never rejects: a file that cannot be read is reported in a notice, and its last valid content applies. */
  read(): Promise<AuthEntries>;
  /**
   * Calls `work` with the latest entries. No other call, also in another process, changes them meanwhile. Rejects with a
   * `HarnessError` if they cannot be read or written; then nothing is changed.
   */
  change<T>(work: (entries: AuthEntries) => Promise<Change<T>>): Promise<T>;
  /** The line of an entry or of a part of it, for messages. Undefined without a file. */
  getLine(path: Path): Promise<number | undefined>;
}

export function createMemoryAuthStore(initial: AuthEntries): AuthStore {
  let current = initial;
  const queue = new SerialQueue();
  return {
    name: "memory",
    read: async () => current,
    change: (work) =>
      queue.add(async () => {
        const { result, entries } = await work(current);
        current = entries ?? current;
        return result;
      }),
    getLine: async () => undefined,
  };
}
