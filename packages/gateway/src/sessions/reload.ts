import type { SettingsManager } from "@tau/config/settings";
import type { OpenSessions } from "./open-sessions.ts";

/** Reads the settings of the gateway and of its open sessions again. Answers with the names of those that changed. */
export async function reloadSettings(own: SettingsManager, sessions: OpenSessions): Promise<string[]> {
  const managers = new Set([own, ...[...sessions.all].map(({ hosted }) => hosted.session.settingsManager)]);
  const changed = new Set<string>();
  for (const manager of managers) {
    const stop = manager.subscribe((change) => change.changed.forEach((name) => changed.add(name)));
    try {
      await manager.reload();
    } finally {
      stop();
    }
  }
  return [...changed];
}
