/** Limits how much is done at once. */
import type { Clock } from "@tau/ai";

export class Slots {
  readonly #max: number;
  #taken = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(max: number) {
    this.#max = max;
  }

  /** Resolves with a function that frees the slot, in the order of the calls; undefined after the time limit or an abort. */
  async take(signal: AbortSignal, limit?: { timeoutMs: number; clock: Clock }): Promise<(() => void) | undefined> {
    if (signal.aborted) return undefined;
    if (this.#taken < this.#max) return this.#hold();
    return await new Promise((resolve) => {
      const settle = (free: (() => void) | undefined): void => {
        cancel();
        signal.removeEventListener("abort", giveUp);
        resolve(free);
      };
      const begin = (): void => settle(this.#hold());
      const giveUp = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(begin), 1);
        settle(undefined);
      };
      const cancel = limit?.clock.setTimer(limit.timeoutMs, giveUp) ?? (() => {});
      signal.addEventListener("abort", giveUp, { once: true });
      this.#waiting.push(begin);
    });
  }

  #hold(): () => void {
    this.#taken++;
    let isFree = false;
    return () => {
      if (isFree) return;
      isFree = true;
      this.#taken--;
      this.#waiting.shift()?.();
    };
  }
}
