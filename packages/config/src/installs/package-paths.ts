/** The skills, prompt templates, themes, agents and MCP servers of installed packages. */
import { getPackageEntries } from "./package-settings.ts";
import type { PackageDirectories } from "./install-location.ts";
import type { PackageResources, ResourceKind } from "./package-resources.ts";
import { resolvePackages } from "./resolve-packages.ts";
import type { SettingsManager } from "../settings/settings-manager.ts";

export type PackagePaths = Readonly<Record<Exclude<ResourceKind, "extensions">, readonly string[]>>;

/** The MCP servers of a package. */
export type PackageServers = Pick<PackageResources, "root" | "directory" | "servers">;

interface PackagePathsOptions extends PackageDirectories {
  settings: SettingsManager;
}

/** Absolute paths, the user's packages before the project's. Packages that cannot be used bring none. */
export async function listPackagePaths(options: PackagePathsOptions): Promise<PackagePaths> {
  const packages = await listPackages(options);
  const list = (kind: keyof PackagePaths) => packages.flatMap((each) => each[kind]);
  return { skills: list("skills"), prompts: list("prompts"), themes: list("themes"), agents: list("agents") };
}

/** In the same order. Packages without servers are left out. */
export async function listPackageServers(options: PackagePathsOptions): Promise<PackageServers[]> {
  const packages = await listPackages(options);
  return packages.filter(({ servers }) => Object.keys(servers).length > 0);
}

async function listPackages({ settings, cwd, agentDir }: PackagePathsOptions): Promise<readonly PackageResources[]> {
  return (await resolvePackages({ cwd, agentDir, entries: getPackageEntries(settings) })).packages;
}
