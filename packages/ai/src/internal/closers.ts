/** Closes what was opened in the opposite order: at the end, or when the next thing cannot be opened. */
export class Closers {
  #closers: (() => unknown)[] = [];

  /** Opens several things. If one cannot be opened, those before it are closed, and its error is thrown. */
  static async open<T>(work: (closers: Closers) => Promise<T>): Promise<T> {
    const closers = new Closers();
    try {
      return await work(closers);
    } catch (error) {
      // What failed first is what the user has to know.
      await Promise.allSettled([closers.close()]);
      throw error;
    }
  }

  add(close: () => unknown): void {
    this.#closers.push(close);
  }

  /** Closes everything, also when something cannot be closed; then throws the first failure. */
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
