/** When a client tries again. Pure. */

const firstDelayMs = 500;
const maxDelayMs = 30_000;

interface RetryInput {
  /** How many tries have failed in a row, this one included. */
  failures: number;
  /** The delay that the gateway asked for. */
  retryAfterMs?: number | undefined;
  /** In [0, 1): clients that lost the same gateway do not come back all at once. */
  random: number;
}

/** Doubles with each failure up to half a minute, of which half is random; never sooner than the gateway asked for. */
export function getRetryDelayMs({ failures, retryAfterMs = 0, random }: RetryInput): number {
  const fullMs = Math.min(maxDelayMs, firstDelayMs * 2 ** Math.min(failures - 1, 16));
  return Math.max(retryAfterMs, Math.round(fullMs * (0.5 + random / 2)));
}
