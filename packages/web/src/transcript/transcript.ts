/** The entries of one session as far as they were loaded: more than the view's window, which is cut as it grows. */
import type { SessionEntry } from "@tau/protocol";
import type { RemoteSession } from "@tau/protocol/client";
import { type Item, ItemBuilder } from "./items.ts";
import { joinEntries } from "./join-entries.ts";

/** Pages grow as long as they come quickly, so that the start of a long session is not far. */
const firstPageSize = 200;
const maxPageSize = 1_600;
const quickMs = 500;

export class Transcript {
  readonly #session: RemoteSession;
  readonly #builder = new ItemBuilder();
  readonly #stop: () => void;
  #entries: readonly SessionEntry[] = [];
  #hasOlder = false;
  #loading: Promise<void> | undefined;
  #pageSize = firstPageSize;

  constructor(session: RemoteSession) {
    this.#session = session;
    this.#stop = session.onEvent((event) => {
      if (event.type !== "entry_appended" || event.entry.type !== "message") return;
      if (event.entry.message.role === "assistant") this.#builder.takeLogged(event.entry.id);
    });
  }

  /** The items as they are now. */
  getItems(): Item[] {
    const { log, live } = this.#session.view;
    const joined = joinEntries({ entries: this.#entries, hasOlder: this.#hasOlder }, log);
    this.#entries = joined.entries;
    this.#hasOlder = joined.hasOlder;
    return this.#builder.build(this.#entries, live);
  }

  get hasOlder(): boolean {
    return this.#hasOlder;
  }

  /** Resolves when they are there, or when there are none. Two calls at a time load once. */
  loadOlder(): Promise<void> {
    const first = this.#entries[0];
    if (!this.#hasOlder || !first) return Promise.resolve();
    this.#loading ??= this.#load(first.id).finally(() => {
      this.#loading = undefined;
    });
    return this.#loading;
  }

  /** The key of the item at which an entry is, among those that are loaded: a result is at its call. */
  findKey(entryId: string, items: readonly Item[]): string | undefined {
    let index = this.#entries.findIndex(({ id }) => id === entryId);
    for (; index >= 0; index--) {
      const key = this.#builder.getKey(this.#entries[index]!);
      const item = items.find((each) => each.key === key || each.key.startsWith(`${key}:`));
      if (item) return item.key;
    }
    return undefined;
  }

  close(): void {
    this.#stop();
  }

  async #load(before: string): Promise<void> {
    const startedAt = performance.now();
    const older = await this.#session.getOlder(before, this.#pageSize);
    const isQuick = performance.now() - startedAt < quickMs;
    this.#pageSize = isQuick ? Math.min(2 * this.#pageSize, maxPageSize) : firstPageSize;
    // The branch may have changed while they were read.
    if (this.#entries[0]?.id !== before) return;
    this.#entries = [...older, ...this.#entries];
    this.#hasOlder = older.length > 0 && older[0]!.parentId !== null;
  }
}
