/** The parts that were created for a session. */
export class Owned {
  #closers: (() => unknown)[] = [];

  add(close: () => unknown): void {
    this.#closers.push(close);
  }

  /** Closes all parts, the last one first, also when one of them fails; then throws the first failure. */
  async close(): Promise<void> {
    const failures: unknown[] = [];
    for (const close of this.#closers.splice(0).toReversed()) {
      try {
        await close();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}
