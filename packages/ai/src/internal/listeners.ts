interface Entry<Event> {
  readonly call: (event: Event) => unknown;
  hasFailed: boolean;
}

/** Functions that are called with each event. One that fails does not keep the others from being called. */
export class Listeners<Event> {
  readonly #onFailure: (error: unknown, isFirst: boolean) => void;
  /** Never changed in place: those that are being called stay the same when one is added or removed meanwhile. */
  #entries: readonly Entry<Event>[] = [];

  /**
   * `onFailure` is called with what a listener throws, or rejects with if it is asynchronous. `isFirst`: this listener has
   * not failed before.
   */
  constructor(onFailure: (error: unknown, isFirst: boolean) => void) {
    this.#onFailure = onFailure;
  }

  get size(): number {
    return this.#entries.length;
  }

  /** Adds a listener, also if it was added before. Returns how to remove this one. */
  add(listener: (event: Event) => unknown): () => void {
    const entry = { call: listener, hasFailed: false };
    this.#entries = [...this.#entries, entry];
    return () => {
      this.#entries = this.#entries.filter((other) => other !== entry);
    };
  }

  clear(): void {
    this.#entries = [];
  }

  /** Calls all, in the order in which they were added, and waits for none of them. */
  emit(event: Event): void {
    for (const entry of this.#entries) {
      try {
        const result = entry.call(event);
        if (result instanceof Promise) result.catch((error: unknown) => this.#fail(entry, error));
      } catch (error) {
        this.#fail(entry, error);
      }
    }
  }

  #fail(entry: Entry<Event>, error: unknown): void {
    const isFirst = !entry.hasFailed;
    entry.hasFailed = true;
    this.#onFailure(error, isFirst);
  }
}
