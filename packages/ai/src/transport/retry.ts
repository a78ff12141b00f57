import type { Random } from "../clock.ts";
import { type Failure, isRetryable } from "../failure.ts";

export interface RetryLimits {
  /** Attempts after the first. */
  maxRetries: number;
  /** 0 means no cap. */
  maxDelayMs: number;
}

const firstDelayMs = 500;

/**
 * How long to wait before the next attempt, or undefined to give up. What the provider asks for is honoured exactly,
 * unless it is above the cap: then there is no point in trying, and the caller learns how long it would take.
 */
export function getRetryDelay(
  failure: Failure,
  attempt: number,
  limits: RetryLimits,
  random: Random,
): number | undefined {
  if (!isRetryable(failure) || attempt >= limits.maxRetries) return undefined;
  const capMs = limits.maxDelayMs > 0 ? limits.maxDelayMs : Number.POSITIVE_INFINITY;
  const askedMs = "retryAfterMs" in failure ? failure.retryAfterMs : undefined;
  if (askedMs !== undefined) return askedMs > capMs ? undefined : askedMs;
  // Half fixed, half random: clients that failed together do not come back together.
  const backoffMs = firstDelayMs * 2 ** attempt;
  return Math.min(capMs, backoffMs / 2 + (backoffMs / 2) * random());
}
