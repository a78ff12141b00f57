import type { Random } from "../clock.ts";
import { type Failure, isRetryable } from "../failure.ts";

interface RetryLimits {
  /** Attempts after the first. */
  maxRetries: number;
  /** 0 means no limit. */
  maxDelayMs: number;
}

const firstDelayMs = 500;

/**
 * The delay before the next attempt, or undefined to give up. A delay that the provider asks for is used exactly; if it
 * exceeds the maximum, the request is not retried.
 */
export function getRetryDelay(
  failure: Failure,
  attempt: number,
  limits: RetryLimits,
  random: Random,
): number | undefined {
  if (!isRetryable(failure) || attempt >= limits.maxRetries) return undefined;
  const maxMs = limits.maxDelayMs > 0 ? limits.maxDelayMs : Number.POSITIVE_INFINITY;
  const requestedMs = "retryAfterMs" in failure ? failure.retryAfterMs : undefined;
  if (requestedMs !== undefined) return requestedMs > maxMs ? undefined : requestedMs;
  // Half of the delay is random, so that clients that failed together do not retry together.
  const backoffMs = firstDelayMs * 2 ** attempt;
  return Math.min(maxMs, backoffMs / 2 + (backoffMs / 2) * random());
}
