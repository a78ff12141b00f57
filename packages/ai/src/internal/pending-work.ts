/** Calls that are under way, so that whoever closes what they use can wait for them. */
export class PendingWork {
  readonly #pending = new Set<Promise<unknown>>();

  async add<T>(work: Promise<T>): Promise<T> {
    this.#pending.add(work);
    try {
      return await work;
    } finally {
      this.#pending.delete(work);
    }
  }

  /** Resolves when all have settled, also those that are added meanwhile. Never rejects. */
  async whenSettled(): Promise<void> {
    while (this.#pending.size > 0) await Promise.allSettled(this.#pending);
  }
}
