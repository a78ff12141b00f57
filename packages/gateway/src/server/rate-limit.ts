import type { Clock } from "@tau/ai";

interface RateLimitOptions {
  perSecond: number;
  /** How many at once, after a while without any. */
  burst: number;
}

interface Bucket {
  left: number;
  /** By the monotonic clock. */
  atMs: number;
}

const maxBuckets = 4_096;

/** How often something may happen, for each address by itself. */
export class RateLimit {
  readonly #clock: Clock;
  readonly #options: RateLimitOptions;
  readonly #buckets = new Map<string, Bucket>();

  constructor(options: RateLimitOptions, clock: Clock) {
    this.#options = options;
    this.#clock = clock;
  }

  /** 0 if it may happen now, and then it counts; otherwise how long to wait, in milliseconds. */
  take(address: string): number {
    const { perSecond, burst } = this.#options;
    const now = this.#clock.monotonic();
    const bucket = this.#buckets.get(address) ?? { left: burst, atMs: now };
    const left = Math.min(burst, bucket.left + ((now - bucket.atMs) / 1_000) * perSecond);
    const isFree = left >= 1;
    this.#buckets.delete(address);
    if (this.#buckets.size >= maxBuckets) this.#buckets.delete(this.#buckets.keys().next().value!);
    this.#buckets.set(address, { left: isFree ? left - 1 : left, atMs: now });
    return isFree ? 0 : Math.ceil(((1 - left) / perSecond) * 1_000);
  }
}
