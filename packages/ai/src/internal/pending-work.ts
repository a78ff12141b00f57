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

  /** Resolves when the calls of now have settled. Never rejects. */
  async whenSettled(): Promise<void> {
    await Promise.allSettled(this.#pending);
  }
}
