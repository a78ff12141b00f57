/** Decides when an account connects again. Pure. */

/** A connection that is over, or that could not be made. */
export interface LostConnection {
  readonly reason: string;
  /** A person has to do something first. */
  readonly isFinal: boolean;
  /** Slack has asked for another connection. */
  readonly isRenewal: boolean;
  /** How long it was ready. */
  readonly livedMs: number;
  readonly retryAfterMs?: number;
}

type Reconnect =
  | { readonly kind: "fail"; readonly reason: string }
  | { readonly kind: "retry"; readonly forMs: number; readonly failures: number };

/** A connection that was ready for less time counts as a failure, so that nothing is repeated quickly for ever. */
const minLifetimeMs = 10_000;
const firstPauseMs = 1_000;
const maxPauseMs = 60_000;

/** `failures` is how often it failed before, without a connection of some duration in between. */
export function decideReconnect(lost: LostConnection, failures: number): Reconnect {
  if (lost.isFinal) return { kind: "fail", reason: lost.reason };
  const before = lost.livedMs >= minLifetimeMs ? 0 : failures;
  const next = { kind: "retry", failures: before + 1 } as const;
  if (lost.isRenewal && before === 0) return { ...next, forMs: 0 };
  const backoffMs = Math.min(firstPauseMs * 2 ** Math.min(before, 20), maxPauseMs);
  return { ...next, forMs: Math.max(backoffMs, lost.retryAfterMs ?? 0) };
}
