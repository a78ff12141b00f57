import type { SettingsManager } from "../settings/settings-manager.ts";
import { hasPackages } from "./has-packages.ts";
import type { PackagePaths } from "./package-paths.ts";

const none: PackagePaths = { skills: [], prompts: [], themes: [], agents: [] };

/** See `listPackagePaths`. Most users have no packages, and then the code for them is not loaded. */
export async function findPackagePaths(options: {
  cwd: string;
  agentDir: string;
  settings: SettingsManager;
}): Promise<PackagePaths> {
  if (!hasPackages(options.settings)) return none;
  const { listPackagePaths } = await import("./package-paths.ts");
  return await listPackagePaths(options);
}
