/** Calls many functions by one timer. With a timer for each, hundreds of clients that read slowly held up the others. */
import type { Clock } from "@tau/ai";

export class Rounds {
  readonly #clock: Clock;
  readonly #everyMs: number;
  readonly #waiting = new Set<() => void>();
  #isPlanned = false;

  constructor(clock: Clock, everyMs: number) {
    this.#clock = clock;
    this.#everyMs = everyMs;
  }

  /** Calls the function once, in the next round. Returns how to cancel that. */
  add(act: () => void): () => void {
    this.#waiting.add(act);
    if (!this.#isPlanned) {
      this.#isPlanned = true;
      this.#clock.setTimer(this.#everyMs, () => this.#run());
    }
    return () => void this.#waiting.delete(act);
  }

  /** Runs a round. Work that is added meanwhile waits for the next. */
  #run(): void {
    this.#isPlanned = false;
    const round = Array.from(this.#waiting);
    for (const act of round) if (this.#waiting.delete(act)) act();
  }
}
