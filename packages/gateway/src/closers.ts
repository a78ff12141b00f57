/** What is open, closed in the opposite order: at the end, or when the next thing cannot be opened. */
export class Closers {
  readonly #closers: (() => Promise<void>)[] = [];

  /** Opens several things. If one cannot be opened, those before it are closed. */
  static async open<T>(work: (closers: Closers) => Promise<T>): Promise<T> {
    const closers = new Closers();
    try {
      return await work(closers);
    } catch (error) {
      await closers.close();
      throw error;
    }
  }

  add(close: () => Promise<void>): void {
    this.#closers.push(close);
  }

  async close(): Promise<void> {
    for (const close of this.#closers.splice(0).toReversed()) await close();
  }
}
