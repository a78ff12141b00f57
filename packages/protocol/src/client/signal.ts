/** Listeners. One that fails does not keep the others from being called; its error is reported by the platform. */
export class Signal<Value> {
  /** Never changed in place: those that are being called stay the same when one is added or removed meanwhile. */
  #entries: readonly { readonly call: (value: Value) => void }[] = [];

  /** Adds a listener and returns how to remove it. The same function can be added several times. */
  add(listener: (value: Value) => void): () => void {
    const entry = { call: listener };
    this.#entries = [...this.#entries, entry];
    return () => {
      this.#entries = this.#entries.filter((other) => other !== entry);
    };
  }

  clear(): void {
    this.#entries = [];
  }

  emit(value: Value): void {
    for (const { call } of this.#entries) {
      try {
        call(value);
      } catch (error) {
        // Nobody here can handle it, and swallowing it would hide a bug.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}
