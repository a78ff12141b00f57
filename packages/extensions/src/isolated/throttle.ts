/** Slows down who sends too much. It grows slower and nothing is lost: what is not read yet waits with its sender. */
import type { Readable } from "node:stream";
import type { Clock } from "@tau/ai";

interface ThrottleLimits {
  perSecond: number;
  /** How many may come at once. */
  burst: number;
}

/** Shorter than the silence after which a process counts as hung. */
const maxWaitMs = 2_000;

export class Throttle {
  readonly #clock: Clock;
  readonly #limits: ThrottleLimits;
  readonly #cancels = new Set<() => void>();
  #left: number;
  #atMs: number;

  constructor(clock: Clock, limits: ThrottleLimits) {
    this.#clock = clock;
    this.#limits = limits;
    this.#left = limits.burst;
    this.#atMs = clock.monotonic();
  }

  /** So much more came from `stream`, which is not read for a while if it was too much. */
  count(stream: Readable, amount = 1): void {
    const waitMs = this.#take(amount);
    if (waitMs === 0 || stream.isPaused()) return;
    stream.pause();
    this.#later(waitMs, () => stream.resume());
  }

  /** Does it now, or later if it was too much. */
  delay(work: () => void): void {
    const waitMs = this.#take(1);
    if (waitMs === 0) work();
    else this.#later(waitMs, work);
  }

  close(): void {
    for (const cancel of this.#cancels) cancel();
    this.#cancels.clear();
  }

  #take(amount: number): number {
    const { perSecond, burst } = this.#limits;
    const now = this.#clock.monotonic();
    this.#left = Math.min(burst, this.#left + ((now - this.#atMs) / 1_000) * perSecond) - amount;
    this.#atMs = now;
    return this.#left >= 0 ? 0 : Math.min(maxWaitMs, Math.ceil((-this.#left / perSecond) * 1_000));
  }

  #later(afterMs: number, work: () => void): void {
    const cancel = this.#clock.setTimer(afterMs, () => {
      this.#cancels.delete(cancel);
      work();
    });
    this.#cancels.add(cancel);
  }
}
