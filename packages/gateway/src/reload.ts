/** Reading again what people change while the gateway runs. */
import { getErrorMessage } from "@tau/ai/internal";
import { formatFileProblem, type SettingsManager } from "@tau/config/settings";
import type { Lanes } from "./lanes/lanes.ts";
import type { Binding } from "./server/binding.ts";
import type { OpenSessions } from "./sessions/open-sessions.ts";
import { reloadSettings } from "./sessions/reload.ts";
import type { GatewaySettings } from "./settings.ts";

interface ReloadParts {
  settings: SettingsManager;
  getSettings: () => GatewaySettings;
  lanes: Pick<Lanes, "grant">;
  binding: Binding;
  /** Takes changed accounts of channels, and resolves with their names. */
  applyChannels: () => Promise<readonly string[]>;
  /** Called when the gateway shows another certificate than before. */
  onCertificate: (() => Promise<void>) | undefined;
}

/** The names of what changed, what is wrong, and the settings that apply only after a restart. */
export interface Reloaded {
  changed: string[];
  problems: string[];
  needsRestart: string[];
}

/** Reads the settings again, also those of open sessions, and the certificate. */
export async function reloadGateway(
  { settings, getSettings, lanes, binding, applyChannels, onCertificate }: ReloadParts,
  sessions: OpenSessions,
): Promise<Reloaded> {
  const changed = await reloadSettings(settings, sessions);
  lanes.grant();
  const accounts = await applyChannels();
  // An account can have changed without its settings: another secret was stored, or it had failed.
  if (!changed.includes("gateway")) changed.push(...accounts.map((name) => `gateway.channels.${name}`));
  const problems = settings.problems.map(formatFileProblem);
  const needsRestart = binding.listStaleSettings(getSettings());
  try {
    if (!binding.reloadCertificate(getSettings())) return { changed, problems, needsRestart };
    await onCertificate?.();
    return { changed: [...changed, "gateway.tls"], problems, needsRestart };
  } catch (error) {
    return { changed, problems: [...problems, getErrorMessage(error)], needsRestart };
  }
}
