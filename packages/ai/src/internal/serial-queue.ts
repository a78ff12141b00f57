/** Runs work one after the other, in the order in which it was added, also when earlier work fails. */
export class SerialQueue {
  #last: Promise<unknown> = Promise.resolve();
  #size = 0;

  /** Whether no work is running or waiting. */
  get isIdle(): boolean {
    return this.#size === 0;
  }

  /**
   * Settles as `work` does. Work never starts before this call has returned, and must not wait for other work of the
   * same queue, which would never start.
   */
  add<T>(work: () => Promise<T>): Promise<T> {
    this.#size++;
    const done = this.#last.then(work).finally(() => this.#size--);
    this.#last = done.catch(() => undefined);
    return done;
  }

  /** Resolves when no work is running or waiting, also none that was added meanwhile. Never rejects. */
  async whenIdle(): Promise<void> {
    while (!this.isIdle) await this.#last;
  }
}
