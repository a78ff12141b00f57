/** Limits how long a request may take. Progress starts the limit again, and while a person is asked no time passes. */
import type { Clock } from "@tau/ai";

interface RequestLimits {
  /** Without an answer or progress. */
  readonly timeoutMs: number;
  /** In all, however much progress is reported. */
  readonly maxTotalMs: number;
}

/** A server that reports progress for ever must not hold a run for ever. */
export const getRequestLimits = (timeoutMs: number): RequestLimits => ({ timeoutMs, maxTotalMs: timeoutMs * 10 });

export class RequestTimer {
  readonly #clock: Clock;
  readonly #limits: RequestLimits;
  readonly #expire: () => void;
  #cancel: (() => void) | undefined;
  /** The rest of each limit when the timer last started. */
  #left: { idleMs: number; totalMs: number };
  #startedAt = 0;
  #pauses = 0;

  constructor(clock: Clock, limits: RequestLimits, expire: () => void) {
    this.#clock = clock;
    this.#limits = limits;
    this.#expire = expire;
    this.#left = { idleMs: limits.timeoutMs, totalMs: limits.maxTotalMs };
    this.#start();
  }

  /** Starts the limit again. */
  reset(): void {
    this.#stop();
    this.#left = { ...this.#left, idleMs: this.#limits.timeoutMs };
    if (this.#pauses === 0) this.#start();
  }

  /** Each pause needs its own `resume`. */
  pause(): void {
    if (this.#pauses++ === 0) this.#stop();
  }

  resume(): void {
    if (--this.#pauses === 0) this.#start();
  }

  end(): void {
    this.#stop();
    this.#pauses = Number.POSITIVE_INFINITY;
  }

  #start(): void {
    this.#startedAt = this.#clock.monotonic();
    this.#cancel = this.#clock.setTimer(Math.max(0, Math.min(this.#left.idleMs, this.#left.totalMs)), this.#expire);
  }

  #stop(): void {
    if (!this.#cancel) return;
    this.#cancel();
    this.#cancel = undefined;
    const passedMs = this.#clock.monotonic() - this.#startedAt;
    this.#left = { idleMs: this.#left.idleMs - passedMs, totalMs: this.#left.totalMs - passedMs };
  }
}
