/** The policy and the sandbox of a session, from the user's settings and what a trusted project makes stricter. */
import { restrictSandbox } from "../sandbox/restrict-settings.ts";
import type { SandboxMode, SandboxSettings } from "../sandbox/settings.ts";
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

/** `mode` overrides the user's, as a flag does. */
export function getSandboxSettings(settings: SessionSettings, mode?: SandboxMode): SandboxSettings {
  const { timeout, ...own } = settings.get().sandbox;
  const { timeout: otherTimeout, ...other } = settings.getRestrictions().sandbox ?? {};
  return restrictSandbox(
    { ...own, ...(timeout !== undefined && { timeoutMs: timeout }), ...(mode !== undefined && { mode }) },
    { ...other, ...(otherTimeout !== undefined && { timeoutMs: otherTimeout }) },
  );
}
