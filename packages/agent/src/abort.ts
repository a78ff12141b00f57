import type { Clock } from "@tau/ai";
import { followSignal } from "@tau/ai/internal";

/** How a piece of work that a run waited for has ended. */
export type Settled<T> = { kind: "done"; value: T } | { kind: "failed"; error: unknown } | { kind: "abandoned" };

/** How long hooks, tools and streams may take to stop by themselves, counted from the abort. */
const graceMs = 100;

/** Aborts a run, when its caller's signal aborts or for a reason of its own, and limits how long an aborted run waits. */
export class Abort {
  readonly #controller = new AbortController();
  /** Stops following the caller's signal. */
  readonly close: () => void;
  readonly #clock: Clock;
  /** The end of the grace period, once the run is aborted. */
  #deadlineMs = 0;
  /** The waits of `settle`. A thousand calls may wait at once; Node warns of so many listeners on one signal. */
  readonly #waits = new Set<Wait>();

  constructor(caller: AbortSignal | undefined, clock: Clock) {
    this.#clock = clock;
    this.close = followSignal(caller, (reason) => this.now(reason));
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get isAborted(): boolean {
    return this.signal.aborted;
  }

  now(reason?: unknown): void {
    if (this.isAborted) return;
    this.#deadlineMs = this.#clock.monotonic() + graceMs;
    this.#controller.abort(reason);
    for (const wait of this.#waits) this.#startTimer(wait);
  }

  /**
   * Starts `work` and waits for it. Once the run is aborted, `work` has until the end of the grace period to settle.
   * After that it is abandoned: its outcome is ignored. Never rejects.
   */
  settle<T>(work: () => T | PromiseLike<T>): Promise<Settled<T>> {
    return new Promise<Settled<T>>((resolve) => {
      const wait: Wait<T> = { resolve, cancelTimer: undefined };
      this.#waits.add(wait);
      if (this.isAborted) this.#startTimer(wait);
      start(work).then(
        (value) => this.#finish(wait, { kind: "done", value }),
        (error: unknown) => this.#finish(wait, { kind: "failed", error }),
      );
    });
  }

  #startTimer(wait: Wait): void {
    const remainingMs = Math.max(0, this.#deadlineMs - this.#clock.monotonic());
    wait.cancelTimer = this.#clock.setTimer(remainingMs, () => this.#finish(wait, { kind: "abandoned" }));
  }

  #finish<T>(wait: Wait<T>, outcome: Settled<T>): void {
    this.#waits.delete(wait);
    wait.cancelTimer?.();
    wait.resolve(outcome);
  }
}

interface Wait<T = never> {
  readonly resolve: (outcome: Settled<T>) => void;
  /** Set once the run is aborted. */
  cancelTimer: (() => void) | undefined;
}

/** A promise for the outcome of `work`, also when it returns no promise or throws at once. */
function start<T>(work: () => T | PromiseLike<T>): Promise<T> {
  try {
    return Promise.resolve(work());
  } catch (error) {
    return Promise.reject(error);
  }
}
