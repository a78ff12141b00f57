/** Where credentials are kept, and one change at a time. */
import { SerialQueue } from "@tau/ai/internal";
import type { Path } from "../fields/field.ts";
import type { AuthEntries } from "./auth-file.ts";

/** What a change makes of the entries. Without `entries` all stays as it is. */
export interface Change<T> {
  result: T;
  entries?: AuthEntries;
}

/** `read` never fails: what cannot be read is told in a notice, and the last that could be read counts. */
export interface AuthStore {
  /** For messages. */
  readonly name: string;
  read(): Promise<AuthEntries>;
  /**
   * Nobody else, in no other process, changes the entries while `work` runs, and it sees the latest. Rejects with a
   * `HarnessError` when they cannot be read or written; then they are as they were.
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
