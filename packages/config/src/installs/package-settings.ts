/** The entries of packages in the settings of each scope. */
import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import type { Ids } from "@tau/ai";
import { keepTrust } from "../trust/trust.ts";
import type { SettingsManager } from "../settings/settings-manager.ts";
import { getScopeDirectory, type PackageDirectories } from "./install-location.ts";
import { type PackageEntry, toDetailed, toEntry } from "./package-entry.ts";
import type { PackageScope } from "./package-resources.ts";
import { isLocalSource } from "./package-source.ts";

export const toSettingsScope = (scope: PackageScope): "global" | "project" => (scope === "user" ? "global" : "project");

/** With absolute paths. Those of a project that is not trusted do not apply. */
export const getPackageEntries = (settings: SettingsManager): Record<PackageScope, readonly PackageEntry[]> => ({
  user: settings.getGiven("global", "packages") ?? [],
  project: settings.getGiven("project", "packages") ?? [],
});

/** A project is moved and cloned as a whole, so its own paths are relative. */
const toStoredSource = (source: string, scope: PackageScope, directories: PackageDirectories): string => {
  if (scope === "user" || !isLocalSource(source)) return source;
  const path = relative(getScopeDirectory(scope, directories), source);
  return path.startsWith("..") ? path : `./${path}`;
};

export interface PackageSettingsPorts extends PackageDirectories {
  settings: SettingsManager;
  ids: Ids;
}

/**
 * Replaces the entries of one scope. `change` may be called several times. Entries have absolute paths, which are stored as
 * `toStoredSource` says. `around` does what belongs to the change before or after the settings are written. Trust in a project
 * applies after it as `keepTrust` says, also if the project had nothing before.
 */
export async function changePackageEntries(
  { settings, ids, ...directories }: PackageSettingsPorts,
  scope: PackageScope,
  change: (entries: readonly PackageEntry[]) => readonly PackageEntry[],
  around: (write: () => Promise<void>) => Promise<void> = (write) => write(),
): Promise<void> {
  // Without a list of its own, the list of pi's file would apply again.
  const isReplacing = scope === "project" && existsSync(join(directories.cwd, ".pi", "settings.json"));
  const toChanges = () => {
    const packages = change(getPackageEntries(settings)[scope]).map((entry) => {
      const detailed = toDetailed(entry);
      return toEntry({ ...detailed, source: toStoredSource(detailed.source, scope, directories) });
    });
    return { packages: packages.length === 0 && !isReplacing ? undefined : packages };
  };
  await settings.update(toSettingsScope(scope), toChanges, (write) =>
    scope === "project" ? keepTrust({ ...directories, ids }, () => around(write), { trustsNew: true }) : around(write),
  );
}
