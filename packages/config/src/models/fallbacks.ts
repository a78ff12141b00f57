/** Decides what is used after a failed request: another key, another model of a chain, or the same again. Pure. */
import type { Failure, FailureKind } from "@tau/ai";

/**
 * Models that are used instead of others, as written: lists in which each model is followed by the next one to use, or
 * lists by role, `provider/model` or `provider/*`.
 */
export type FallbackChains = readonly (readonly string[])[] | Readonly<Record<string, readonly string[]>>;

/** The step after a failed request. */
export type NextUse = "next_key" | "next_model" | "retry" | "stop";

export interface FailedRequest {
  kind: FailureKind;
  /** Whether text or calls of the answer were shown before it failed. */
  hasShown: boolean;
  /** Whether the provider has another key that can be used now. */
  hasNextKey: boolean;
  /** Whether the chain has another model that can be used now. */
  hasNextModel: boolean;
  /** How many requests with this model and key failed in a row, with this one. */
  tries: number;
  /** Whether the limits of retries allow one more request with this model and key. */
  canRetry: boolean;
}

/** The rule for each kind of failure. Kinds that are not listed are only retried. */
const rules: Partial<Record<FailureKind, { changesKey: boolean; triesBeforeChain: number }>> = {
  rate_limited: { changesKey: true, triesBeforeChain: 3 },
  overloaded: { changesKey: false, triesBeforeChain: 3 },
  billing: { changesKey: true, triesBeforeChain: 1 },
  auth: { changesKey: true, triesBeforeChain: 1 },
};

/** How long a model or a key is not used if the provider did not say. */
const defaultCooldownMs = 5 * 60_000;

/** The next key comes first, then the retries that precede the chain, then the chain. */
export function decideAfterFailure(failed: FailedRequest): NextUse {
  const { kind, hasShown, hasNextKey, hasNextModel, tries, canRetry } = failed;
  const same = canRetry ? "retry" : "stop";
  const rule = rules[kind];
  // Another model would not continue what the person has already read, but say something else.
  if (!rule || hasShown) return same;
  if (rule.changesKey && hasNextKey) return "next_key";
  if (!hasNextModel) return same;
  return canRetry && tries < rule.triesBeforeChain ? "retry" : "next_model";
}

/** Whether a failure is about the key that was sent, so that another one may be accepted. */
export const isAboutKey = (kind: FailureKind): boolean => rules[kind]?.changesKey ?? false;

/** How long the model or the key of a failed request is not used. */
export const getCooldownMs = (failure: Failure): number =>
  ("retryAfterMs" in failure ? failure.retryAfterMs : undefined) ?? defaultCooldownMs;

/** The model that the user selected. */
interface Selection {
  provider: string;
  id: string;
  /** Undefined if it was not selected by its role. */
  role: string | undefined;
}

/**
 * The models that follow the selected one, as written. In a map a role comes before `provider/model`, and that before
 * `provider/*`. Among lists, the first applies that names the model; `isSelected` says whether a text does.
 */
export function findChain(
  chains: FallbackChains,
  { provider, id, role }: Selection,
  isSelected: (written: string) => boolean,
): readonly string[] {
  if (isLists(chains)) {
    const chain = chains.find((list) => list.some(isSelected)) ?? [];
    return chain.slice(chain.findIndex(isSelected) + 1);
  }
  const names = [...(role === undefined ? [] : [role, `@${role}`]), `${provider}/${id}`, `${provider}/*`];
  const name = names.find((each) => Object.hasOwn(chains, each));
  return name === undefined ? [] : chains[name]!.filter((written) => !isSelected(written));
}

const isLists = (chains: FallbackChains): chains is readonly (readonly string[])[] => Array.isArray(chains);

/** The first that can be used now; if none can, the one that can be used first. Undefined for an empty list. */
export function pickAvailable<T>(
  candidates: readonly T[],
  getUntilMs: (candidate: T) => number,
  nowMs: number,
): T | undefined {
  const [first, ...others] = candidates;
  if (first === undefined) return undefined;
  const available = candidates.find((candidate) => getUntilMs(candidate) <= nowMs);
  return available ?? others.reduce((best, each) => (getUntilMs(each) < getUntilMs(best) ? each : best), first);
}
