/** Functions that are called with each event. One that fails does not keep the others from being called. */
export class Listeners<Event> {
  readonly #onFailure: (error: unknown) => void;
  /** Never changed in place: those that are being called stay the same when one is added or removed meanwhile. */
  #entries: readonly { readonly call: (event: Event) => unknown }[] = [];

  /** `onFailure` is called with what a listener throws, or rejects with if it is asynchronous. */
  constructor(onFailure: (error: unknown) => void) {
    this.#onFailure = onFailure;
  }

  get size(): number {
    return this.#entries.length;
  }

  /** The same function can be added several times. Returns how to remove this one. */
  add(listener: (event: Event) => unknown): () => void {
    const entry = { call: listener };
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
    for (const { call } of this.#entries) {
      try {
        const result = call(event);
        if (result instanceof Promise) result.catch(this.#onFailure);
      } catch (error) {
        this.#onFailure(error);
      }
    }
  }
}
