/** The policy and the sandbox of a session, from the user's settings and what a trusted project makes stricter. */
import { restrictSandbox } from "@tau/sandbox/internal";
import type { SandboxSettings } from "@tau/sandbox";
import type { SettingsManager } from "../settings/settings-manager.ts";
import { type ExtensionPolicy, resolvePolicy, restrictPolicy } from "@tau/policy";

type SessionSettings = Pick<SettingsManager, "get" | "getRestrictions">;

/** `profile` overrides the user's, as a flag does. Each of `kept`, such as that of the session's log, can only make it stricter. */
export function getSessionPolicy(
  settings: SessionSettings,
  profile?: string,
  kept: readonly string[] = [],
): ExtensionPolicy {
  const { policy } = settings.get();
  const own = resolvePolicy(profile === undefined ? policy : { ...policy, profile });
  const restricted = restrictPolicy(own, settings.getRestrictions().policy);
  return kept.reduce((policy, name) => restrictPolicy(policy, { profile: name }), restricted);
}

/** `overrides` apply instead of the user's settings, as flags do. */
export function getSandboxSettings(
  settings: SessionSettings,
  overrides: Partial<SandboxSettings> = {},
): SandboxSettings {
  const { timeout, maxMemoryMb, ...own } = settings.get().sandbox;
  const { timeout: otherTimeout, ...other } = settings.getRestrictions().sandbox ?? {};
  const limits = {
    ...(timeout !== undefined && { timeoutMs: timeout }),
    ...(maxMemoryMb !== undefined && { maxMemoryMb }),
  };
  return restrictSandbox(
    { ...own, ...limits, ...overrides },
    { ...other, ...(otherTimeout !== undefined && { timeoutMs: otherTimeout }) },
  );
}
