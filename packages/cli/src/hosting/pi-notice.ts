import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { systemIds } from "@tau/ai";
import type { SettingsManager } from "@tau/config/settings";
import type { Io } from "../commands/command.ts";

/** About packages of pi, once for users who come from there; for all others it looks for one file. */
export async function takePiNotice(
  io: Io,
  { agentDir, settings }: { agentDir: string; settings: SettingsManager },
): Promise<string | undefined> {
  const home = io.env["HOME"] || homedir();
  if (!existsSync(join(home, ".pi", "agent", "settings.json"))) return undefined;
  const { getPackageEntries, takePiPackagesNotice } = await import("@tau/config/installs");
  return await takePiPackagesNotice({ home, agentDir, entries: getPackageEntries(settings).user, ids: systemIds });
}
