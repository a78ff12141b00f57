/** Chooses among the keys of a provider. Pure. */
import type { Credential } from "./credential.ts";
import type { AuthFailure } from "./failure.ts";
import { formatLoginCommand } from "./key-hint.ts";
import { refuseHost } from "./key-host.ts";
import type { KeyList, KeySource, ModelsKey } from "./key-source.ts";

/**
 * A key that has not been resolved yet. `origin` says for people where it is from. `hosts` is undefined for a failure,
 * which is never sent.
 */
export type KeyCandidate = { source: KeySource; origin: string; hosts: readonly string[] | undefined } & (
  | { literal: string }
  | { credential: Credential }
  | { list: KeyList }
  | { written: ModelsKey }
  | { failure: AuthFailure }
);

type KeyChoice = { kind: "candidate"; candidate: KeyCandidate } | NoKey;

/** `isRefused`: there are keys, but none may be sent to this host. */
export interface NoKey {
  kind: "none";
  reason: string;
  isRefused: boolean;
}

/** The first key that may be sent to `host`. If there is none, the reason is about the first that may not. */
export function chooseKey(
  provider: string,
  candidates: readonly KeyCandidate[],
  { host, hasCustomLogin }: { host: string | undefined; hasCustomLogin: boolean },
): KeyChoice {
  let reason: string | undefined;
  for (const candidate of candidates) {
    const { hosts } = candidate;
    const refusal = host === undefined || hosts === undefined ? undefined : refuseHost(provider, host, hosts);
    if (refusal === undefined) return { kind: "candidate", candidate };
    reason ??= refusal;
  }
  if (reason !== undefined) return { kind: "none", reason, isRefused: true };
  const advice = `There is no key for ${provider}. Log in or store one: ${formatLoginCommand(provider, hasCustomLogin)}`;
  return { kind: "none", reason: advice, isRefused: false };
}
