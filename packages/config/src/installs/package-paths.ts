/** The skills, prompt templates and themes of installed packages. */
import { getPackageEntries } from "./package-settings.ts";
import type { PackageDirectories } from "./install-location.ts";
import type { ResourceKind } from "./package-resources.ts";
import { resolvePackages } from "./resolve-packages.ts";
import type { SettingsManager } from "../settings/settings-manager.ts";

export type PackagePaths = Readonly<Record<Exclude<ResourceKind, "extensions">, readonly string[]>>;

/** Absolute paths, the user's packages before the project's. Packages that cannot be used bring none. */
export async function listPackagePaths({
  settings,
  ...directories
}: PackageDirectories & { settings: SettingsManager }): Promise<PackagePaths> {
  const { packages } = await resolvePackages({ ...directories, entries: getPackageEntries(settings) });
  const list = (kind: keyof PackagePaths) => packages.flatMap((each) => each[kind]);
  return { skills: list("skills"), prompts: list("prompts"), themes: list("themes") };
}
