/** The policy and the sandbox of a session, from the user's settings and what a trusted project makes stricter. */
import { restrictSandbox } from "../sandbox/restrict-settings.ts";
import type { SandboxSettings } from "../sandbox/settings.ts";
import type { SettingsManager } from "../settings/settings-manager.ts";
import { type ExtensionPolicy, resolvePolicy } from "./extension-policy.ts";
import { restrictPolicy } from "./restrict-policy.ts";

type SessionSettings = Pick<SettingsManager, "get" | "getRestrictions">;

/** `profile` overrides the user's, as a flag does. */
export function getSessionPolicy(settings: SessionSettings, profile?: string): ExtensionPolicy {
  const { policy } = settings.get();
  const own = resolvePolicy(profile === undefined ? policy : { ...policy, profile });
  return restrictPolicy(own, settings.getRestrictions().policy);
}

/** `overrides` count instead of the user's settings, as flags do. */
export function getSandboxSettings(
  settings: SessionSettings,
  overrides: Partial<SandboxSettings> = {},
): SandboxSettings {
  const { timeout, ...own } = settings.get().sandbox;
  const { timeout: otherTimeout, ...other } = settings.getRestrictions().sandbox ?? {};
  return restrictSandbox(
    { ...own, ...(timeout !== undefined && { timeoutMs: timeout }), ...overrides },
    { ...other, ...(otherTimeout !== undefined && { timeoutMs: otherTimeout }) },
  );
}
