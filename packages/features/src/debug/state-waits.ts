/** Calls that wait until a state is reached. */
import type { Clock } from "@tau/ai";

export class StateWaits {
  readonly #clock: Clock;
  readonly #waiting = new Set<() => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Looks again at what is waited for. Has to be called after each change. */
  check(): void {
    for (const check of this.#waiting) check();
  }

  /** Resolves when `isDone`, the time is over, or `signal` is aborted. Never rejects. */
  async until(isDone: () => boolean, timeoutMs: number, signal: AbortSignal | undefined): Promise<void> {
    if (isDone() || signal?.aborted) return;
    await new Promise<void>((resolve) => {
      const settle = () => {
        this.#waiting.delete(check);
        cancelTimer();
        signal?.removeEventListener("abort", settle);
        resolve();
      };
      const check = () => void (isDone() && settle());
      const cancelTimer = this.#clock.setTimer(timeoutMs, settle);
      this.#waiting.add(check);
      signal?.addEventListener("abort", settle, { once: true });
    });
  }
}
