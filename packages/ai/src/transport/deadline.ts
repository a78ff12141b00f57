import type { Clock } from "../clock.ts";

interface DeadlineLimits {
  /** From the start to the last byte; 0 means no limit. */
  totalMs: number;
  /** From the start to the first content; 0 means no limit. */
  firstMs: number;
  /** From content to content; 0 means no limit. */
  idleMs: number;
}

/** Which limit expired, and how long it was. */
export interface Expiry {
  limit: "total" | "first" | "idle";
  limitMs: number;
}

/**
 * Owns the time limits of a request. `content()` restarts the idle limit. It is not called for pings and comments, so a
 * server that only keeps the connection open still runs into the limit.
 */
export class Deadline {
  readonly #clock: Clock;
  readonly #limits: DeadlineLimits;
  readonly #onExpire: (expiry: Expiry) => void;
  readonly #cancelTotal: () => void;
  #cancelIdle: () => void;
  #lastContent: number;
  #limitMs: number;
  #hasContent = false;
  #expectsEnd = false;

  constructor(clock: Clock, limits: DeadlineLimits, onExpire: (expiry: Expiry) => void) {
    this.#clock = clock;
    this.#limits = limits;
    this.#onExpire = onExpire;
    this.#lastContent = clock.monotonic();
    this.#limitMs = limits.firstMs;
    this.#cancelTotal =
      limits.totalMs > 0 ? clock.setTimer(limits.totalMs, () => this.#expire("total", limits.totalMs)) : noop;
    this.#cancelIdle = this.#arm(limits.firstMs);
  }

  content(): void {
    this.#hasContent = true;
    this.#lastContent = this.#clock.monotonic();
    this.#expectsEnd = false;
    if (this.#limitMs === this.#limits.idleMs) return;
    this.#limitMs = this.#limits.idleMs;
    this.#cancelIdle();
    this.#cancelIdle = this.#arm(this.#limits.idleMs);
  }

  /**
   * Call when the answer seems complete. The server then has at most `withinMs` to close the connection, unless more
   * content comes.
   */
  expectEnd(withinMs: number): void {
    if (this.#expectsEnd && this.#limitMs <= withinMs) return;
    this.#expectsEnd = true;
    this.#cancelIdle();
    this.#lastContent = this.#clock.monotonic();
    this.#limitMs = this.#limits.idleMs > 0 ? Math.min(this.#limits.idleMs, withinMs) : withinMs;
    this.#cancelIdle = this.#arm(this.#limitMs);
  }

  close(): void {
    this.#cancelTotal();
    this.#cancelIdle();
  }

  /** A timer is not reset for each delta. If content arrived since it was set, it is set again for the remaining time. */
  #arm(afterMs: number): () => void {
    if (afterMs <= 0) return noop;
    return this.#clock.setTimer(afterMs, () => {
      const remainingMs = this.#lastContent + this.#limitMs - this.#clock.monotonic();
      if (remainingMs > 0) this.#cancelIdle = this.#arm(remainingMs);
      else this.#expire(this.#hasContent ? "idle" : "first", this.#limitMs);
    });
  }

  #expire(limit: Expiry["limit"], limitMs: number): void {
    this.close();
    this.#onExpire({ limit, limitMs });
  }
}

const noop = () => undefined;
