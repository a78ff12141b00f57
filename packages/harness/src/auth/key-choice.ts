/** Which of the keys that there are is used. Pure. */
import type { Credential } from "./credential.ts";
import type { AuthFailure } from "./failure.ts";
import { refuseHost } from "./key-host.ts";

/** In the order in which they count. */
export type KeySource = "explicit" | "stored" | "models" | "environment";

/** A key that has not been looked up yet. `hosts` is undefined for one that will never be sent. */
export type KeyCandidate = { source: KeySource; hosts: readonly string[] | undefined } & (
  | { literal: string }
  | { credential: Credential }
  | { written: { key: string; isOwn?: boolean } }
  | { failure: AuthFailure }
);

export type KeyChoice = { kind: "candidate"; candidate: KeyCandidate } | NoKey;

/** `isRefused`: there are keys, and none may go to this host. */
export interface NoKey {
  kind: "none";
  reason: string;
  isRefused: boolean;
}

/** The first that may go to `host`. The reason names the first that may not. */
export function chooseKey(provider: string, candidates: readonly KeyCandidate[], host: string | undefined): KeyChoice {
  let reason: string | undefined;
  for (const candidate of candidates) {
    const { hosts } = candidate;
    const refusal = host === undefined || hosts === undefined ? undefined : refuseHost(provider, host, hosts);
    if (refusal === undefined) return { kind: "candidate", candidate };
    reason ??= refusal;
  }
  if (reason !== undefined) return { kind: "none", reason, isRefused: true };
  const advice = `There is no key for ${provider}. Log in or store one: tau auth login ${provider}`;
  return { kind: "none", reason: advice, isRefused: false };
}
