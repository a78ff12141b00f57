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
  readonly signal: AbortSignal;
  readonly #controller = new AbortController();
  readonly #caller: AbortSignal | undefined;
  readonly #clock: Clock;
  /** The last that came; it may be over. */
  #lastWait: Wait | undefined;
  /** Known once the run is aborted. */
  #deadlineMs: number | undefined;

  constructor(caller: AbortSignal | undefined, clock: Clock) {
    this.#caller = caller;
    this.#clock = clock;
    this.signal = this.#controller.signal;
    if (caller?.aborted) this.now(caller.reason);
    else caller?.addEventListener("abort", this.#onCaller, { once: true });
  }

  /** What `signal.aborted` says. Asked many times a turn, and the signal itself is slow to answer. */
  get isAborted(): boolean {
    return this.#deadlineMs !== undefined;
  }

  now(reason?: unknown): void {
    if (this.isAborted) return;
    this.#deadlineMs = this.#clock.monotonic() + graceMs;
    const waits: Wait[] = [];
    for (let wait = this.#lastWait; wait; wait = wait.earlier) if (!wait.isOver) waits.push(wait);
    this.#controller.abort(reason);
    for (const wait of waits.toReversed()) this.#leaveSoon(wait, this.#deadlineMs);
  }

  /** Forgets the caller's signal. */
  close(): void {
    this.#caller?.removeEventListener("abort", this.#onCaller);
  }

  /**
   * Waits for `work`, but not for ever: once the run is aborted, it gets a moment to settle and is then left behind.
   * What it does after that is not looked at.
   */
  settle<T>(work: T | Promise<T>): Settled<T> | Promise<Settled<T>> {
    if (!isThenable(work)) return { kind: "done", value: work };
    return new Promise<Settled<T>>((resolve) => {
      const wait = this.#addWait(resolve as Wait["resolve"]);
      Promise.resolve(work).then(
        (value) => end(wait, { kind: "done", value }),
        (error: unknown) => end(wait, { kind: "failed", error }),
      );
      if (this.#deadlineMs !== undefined) this.#leaveSoon(wait, this.#deadlineMs);
    });
  }

  /** What is over is forgotten here: few wait at once, so that this costs less than to take each out when it ends. */
  #addWait(resolve: Wait["resolve"]): Wait {
    let earlier = this.#lastWait;
    while (earlier?.isOver) earlier = earlier.earlier;
    this.#lastWait = { isOver: false, resolve, cancelTimer: undefined, earlier };
    return this.#lastWait;
  }

  #leaveSoon(wait: Wait, deadlineMs: number): void {
    const leftMs = Math.max(0, deadlineMs - this.#clock.monotonic());
    wait.cancelTimer = this.#clock.setTimer(leftMs, () => end(wait, { kind: "abandoned" }));
  }

  readonly #onCaller = () => this.now(this.#caller?.reason);
}

/** Somebody who waits for work. */
interface Wait {
  isOver: boolean;
  readonly resolve: (outcome: Settled<unknown>) => void;
  /** Once the run is aborted. */
  cancelTimer: (() => void) | undefined;
  readonly earlier: Wait | undefined;
}

function end(wait: Wait, outcome: Settled<unknown>): void {
  wait.isOver = true;
  wait.cancelTimer?.();
  wait.resolve(outcome);
}

/** Whether something that other people's code gave has to be waited for. */
export const isThenable = <T>(work: T | Promise<T>): work is Promise<T> =>
  typeof (work as Promise<T> | undefined)?.then === "function";

/**
 * The same of something that our own code gave, which costs less to find out. Where nobody has to be waited for, the
 * loop goes on at once: an `await` costs a turn of the microtask queue and half a kilobyte even when there is nothing to
 * wait for, and a thousand agents pass there many times a turn.
 */
export const isPromise = <T>(work: T | Promise<T>): work is Promise<T> => work instanceof Promise;
