/** How many agents of a tree work at the same time. */

interface Waiter {
  readonly give: () => void;
}

export class Slots {
  readonly #getLimit: () => number;
  readonly #waiting: Waiter[] = [];
  #held = 0;

  /** The limit is read each time, since it is a setting. */
  constructor(getLimit: () => number) {
    this.#getLimit = getLimit;
  }

  get held(): number {
    return this.#held;
  }

  /** Resolves with a slot, in the order of the calls; undefined if the signal aborts before. */
  async take(signal: AbortSignal): Promise<Slot | undefined> {
    return (await this.acquire(signal, "last")) ? new Slot(this) : undefined;
  }

  /** Resolves with whether a slot is held. `first`: before all others that wait. */
  acquire(signal: AbortSignal, turn: "first" | "last"): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false);
    if (this.#held < this.#getLimit()) {
      this.#held++;
      return Promise.resolve(true);
    }
    return new Promise((resolve) => {
      const abort = () => {
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
        resolve(false);
      };
      const waiter: Waiter = {
        give: () => {
          signal.removeEventListener("abort", abort);
          this.#held++;
          resolve(true);
        },
      };
      signal.addEventListener("abort", abort, { once: true });
      if (turn === "first") this.#waiting.unshift(waiter);
      else this.#waiting.push(waiter);
    });
  }

  free(): void {
    this.#held--;
    while (this.#held < this.#getLimit()) {
      const waiter = this.#waiting.shift();
      if (!waiter) return;
      waiter.give();
    }
  }
}

/** The slot of one agent, which it gives back while it waits for its own agents. */
export class Slot {
  readonly #slots: Slots;
  #waits = 0;
  #isHeld = true;
  #isReleased = false;

  constructor(slots: Slots) {
    this.#slots = slots;
  }

  /** Does work that only waits for others. Resolves when the agent has a slot again, or the signal aborts. */
  async whileWaiting<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    if (this.#waits++ === 0) this.#giveBack();
    try {
      return await work();
    } finally {
      if (--this.#waits === 0 && !this.#isReleased) await this.#takeAgain(signal);
    }
  }

  release(): void {
    this.#isReleased = true;
    this.#giveBack();
  }

  #giveBack(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    this.#slots.free();
  }

  /** It has work in progress, so it comes before those that have not begun. */
  async #takeAgain(signal: AbortSignal): Promise<void> {
    if (!(await this.#slots.acquire(signal, "first"))) return;
    // It waits for others again, or has ended meanwhile.
    if (this.#waits > 0 || this.#isReleased || this.#isHeld) this.#slots.free();
    else this.#isHeld = true;
  }
}
