import type { Clock } from "@tau/ai";

/** How a piece of work that a run waited for has ended. */
export type Settled<T> = { kind: "done"; value: T } | { kind: "failed"; error: unknown } | { kind: "abandoned" };

/** How long hooks, tools and streams may take to stop by themselves, counted from the abort. */
const graceMs = 100;

/** Aborts a run, when its caller's signal aborts or for a reason of its own, and limits how long an aborted run waits. */
export class Abort {
  readonly #controller = new AbortController();
  readonly #caller: AbortSignal | undefined;
  readonly #clock: Clock;
  /** The end of the grace period, once the run is aborted. */
  #deadlineMs = 0;
  /** Called on abort. A thousand calls may wait at once; Node warns of so many listeners on one signal. */
  readonly #onAbort = new Set<() => void>();

  constructor(caller: AbortSignal | undefined, clock: Clock) {
    this.#caller = caller;
    this.#clock = clock;
    if (caller?.aborted) this.now(caller.reason);
    else caller?.addEventListener("abort", this.#onCallerAbort);
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
    for (const onAbort of this.#onAbort) onAbort();
  }

  /** Stops listening to the caller's signal. */
  close(): void {
    this.#caller?.removeEventListener("abort", this.#onCallerAbort);
  }

  /**
   * Starts `work` and waits for it. Once the run is aborted, `work` has until the end of the grace period to settle.
   * After that it is abandoned: its outcome is ignored. Never rejects.
   */
  settle<T>(work: () => T | PromiseLike<T>): Promise<Settled<T>> {
    return new Promise((resolve) => {
      let cancelTimer = () => {};
      const startTimer = () => {
        const remainingMs = Math.max(0, this.#deadlineMs - this.#clock.monotonic());
        cancelTimer = this.#clock.setTimer(remainingMs, () => resolve({ kind: "abandoned" }));
      };
      const finish = (outcome: Settled<T>) => {
        this.#onAbort.delete(startTimer);
        cancelTimer();
        resolve(outcome);
      };
      start(work).then(
        (value) => finish({ kind: "done", value }),
        (error: unknown) => finish({ kind: "failed", error }),
      );
      if (this.isAborted) startTimer();
      else this.#onAbort.add(startTimer);
    });
  }

  readonly #onCallerAbort = () => this.now(this.#caller?.reason);
}

/** A promise for the outcome of `work`, also when it returns no promise or throws at once. */
function start<T>(work: () => T | PromiseLike<T>): Promise<T> {
  try {
    return Promise.resolve(work());
  } catch (error) {
    return Promise.reject(error);
  }
}
