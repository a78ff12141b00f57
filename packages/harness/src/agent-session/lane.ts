/** The queue in which all work on one session happens, one after the other. */
export class Lane {
  #tail: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  /** Nothing is going on, and nothing waits. */
  get isIdle(): boolean {
    return this.#waiting === 0;
  }

  enqueue<T>(work: () => Promise<T>): Promise<T> {
    this.#waiting++;
    const done = this.#tail.then(work).finally(() => this.#waiting--);
    this.#tail = done.catch(() => undefined);
    return done;
  }

  /** Resolves when nothing is going on any more, also nothing that was begun meanwhile. */
  async whenIdle(): Promise<void> {
    while (!this.isIdle) await this.#tail;
  }
}
