import type { Clock } from "@tau/ai";

/** What became of work that may be left behind. */
export type Settled<T> = { kind: "done"; value: T } | { kind: "failed"; error: unknown } | { kind: "abandoned" };

/** How long everything that was told to stop may take to stop by itself, from the moment of the abort. */
const graceMs = 100;

/**
 * The end of a run's patience: its caller's signal, or a reason of its own. It holds one listener on the caller's
 * signal, however many calls wait for it.
 */
export class Abort {
  readonly #controller = new AbortController();
  readonly #caller: AbortSignal | undefined;
  readonly #clock: Clock;
  readonly #waiting: (() => void)[] = [];
  #deadlineMs = Number.POSITIVE_INFINITY;

  constructor(caller: AbortSignal | undefined, clock: Clock) {
    this.#caller = caller;
    this.#clock = clock;
    if (caller?.aborted) this.now(caller.reason);
    else caller?.addEventListener("abort", this.#onCaller, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  now(reason?: unknown): void {
    if (this.#controller.signal.aborted) return;
    this.#deadlineMs = this.#clock.monotonic() + graceMs;
    this.#controller.abort(reason);
    for (const wake of this.#waiting) wake();
  }

  /** Forgets the caller's signal. */
  close(): void {
    this.#caller?.removeEventListener("abort", this.#onCaller);
  }

  /**
   * Waits for `work`, but not for ever: once the run is aborted, it gets a moment to settle and is then left behind.
   * What it does after that is not looked at.
   */
  settle<T>(work: T | Promise<T>): Promise<Settled<T>> {
    if (!isPromise(work)) return Promise.resolve({ kind: "done", value: work });
    return new Promise((resolve) => {
      let cancelTimer = () => {};
      const finish = (outcome: Settled<T>) => {
        this.#forget(onAbort);
        cancelTimer();
        resolve(outcome);
      };
      const onAbort = () => {
        const leftMs = Math.max(0, this.#deadlineMs - this.#clock.monotonic());
        cancelTimer = this.#clock.setTimer(leftMs, () => finish({ kind: "abandoned" }));
      };
      Promise.resolve(work).then(
        (value) => finish({ kind: "done", value }),
        (error: unknown) => finish({ kind: "failed", error }),
      );
      if (this.signal.aborted) onAbort();
      else this.#waiting.push(onAbort);
    });
  }

  /** A list, because few wait at once, and every turn would make a set grow and shrink. */
  #forget(onAbort: () => void): void {
    const at = this.#waiting.indexOf(onAbort);
    if (at >= 0) this.#waiting.splice(at, 1);
  }

  readonly #onCaller = () => this.now(this.#caller?.reason);
}

/** Whether something has to be waited for. */
export const isPromise = <T>(work: T | Promise<T>): work is Promise<T> =>
  typeof (work as Promise<T> | undefined)?.then === "function";

/**
 * Goes on with what was given, at once where nobody has to be waited for. An `await` costs a turn of the microtask queue
 * and half a kilobyte even when there is nothing to wait for, and a thousand agents pass here many times a turn.
 */
export const after = <T, U>(given: T | Promise<T>, goOn: (value: T) => U | Promise<U>): U | Promise<U> =>
  isPromise(given) ? given.then(goOn) : goOn(given);
