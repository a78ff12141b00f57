/** Decides what happens to a reply after an attempt to send it. Pure: `outbox.ts` acts on it. */
import type { ChannelLimits, Delivery } from "@tau/extensions";

export type AfterAttempt =
  | { readonly kind: "sent" }
  | { readonly kind: "retry"; readonly afterMs: number; readonly isKnownUnsent: boolean }
  | { readonly kind: "over"; readonly state: "uncertain" | "refused"; readonly reason: string };

interface AttemptFacts {
  readonly delivery: Delivery;
  /** How many attempts there were, with this one. */
  readonly attempts: number;
  /** Since the reply was recorded. */
  readonly ageMs: number;
  /** Whether another attempt makes no second message: see `ChannelLimits.provesNonce`; and an edit never does. */
  readonly isRepeatable: boolean;
  /** Whether an earlier attempt may have delivered it. */
  readonly wasUncertain: boolean;
}

/** Whether the platform still recognises a message whose first attempt began `ageMs` ago. */
export const isProven = (
  { provesNonce, nonceExpiresInMs = Infinity }: Pick<ChannelLimits, "provesNonce" | "nonceExpiresInMs">,
  ageMs: number,
): boolean => provesNonce && ageMs < nonceExpiresInMs;

/** After this, what could not be delivered is given up: an answer to a question of yesterday helps nobody. */
export const maxReplyAgeMs = 24 * 60 * 60_000;

const firstRetryMs = 1_000;
const maxRetryMs = 60_000;

export function decideAfterAttempt(facts: AttemptFacts): AfterAttempt {
  const { delivery, attempts, ageMs, isRepeatable, wasUncertain } = facts;
  switch (delivery.kind) {
    case "sent":
      return { kind: "sent" };
    case "refused":
      return { kind: "over", state: wasUncertain ? "uncertain" : "refused", reason: delivery.reason };
    case "unknown":
      if (!isRepeatable) return { kind: "over", state: "uncertain", reason: delivery.reason };
      return retry(delivery.reason, { attempts, ageMs, isKnownUnsent: false });
    case "not_sent":
      return retry(delivery.reason, {
        attempts,
        ageMs,
        isKnownUnsent: !wasUncertain,
        afterMs: delivery.retryAfterMs,
      });
  }
}

function retry(
  reason: string,
  facts: { attempts: number; ageMs: number; isKnownUnsent: boolean; afterMs?: number | undefined },
): AfterAttempt {
  const { attempts, ageMs, isKnownUnsent } = facts;
  if (ageMs >= maxReplyAgeMs) return { kind: "over", state: isKnownUnsent ? "refused" : "uncertain", reason };
  const backoffMs = Math.min(firstRetryMs * 2 ** Math.min(attempts - 1, 20), maxRetryMs);
  return { kind: "retry", afterMs: Math.max(backoffMs, facts.afterMs ?? 0), isKnownUnsent };
}

/** Decides about a reply whose last attempt has no known end: sent again only where the platform makes one message of both. */
export const decideAfterCrash = (isRepeatable: boolean): AfterAttempt =>
  isRepeatable
    ? { kind: "retry", afterMs: 0, isKnownUnsent: false }
    : {
        kind: "over",
        state: "uncertain",
        reason: "How the last attempt to send this ended is not known: it may have been delivered.",
      };
