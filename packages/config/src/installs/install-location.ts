/** Where packages are installed. */
import { dirname, join } from "node:path";
import { isWithin, nodeFileSystem, unlessMissing } from "@tau/tools/platform";
import { HarnessError } from "@tau/protocol";
import { getRealPath } from "../settings/locate.ts";
import type { LockedPackage } from "./lock-file.ts";
import type { PackageScope } from "./package-resources.ts";
import type { RemoteSource } from "./package-source.ts";

export interface PackageDirectories {
  cwd: string;
  agentDir: string;
}

/** The directory of the settings, of the lock and of the packages. */
export const getScopeDirectory = (scope: PackageScope, { cwd, agentDir }: PackageDirectories): string =>
  scope === "user" ? agentDir : join(cwd, ".tau");

/** The real path of the project that has the packages of a scope; undefined for the user's own. */
export const getOwner = (scope: PackageScope, cwd: string): string | undefined =>
  scope === "user" ? undefined : getRealPath(cwd);

interface InstallLocation {
  /** Everything that was fetched, dependencies included. */
  readonly directory: string;
  /** The directory of the package in it. */
  readonly root: string;
}

/** Each version has a directory of its own, so that the lock alone decides which one is used. */
export function getInstallLocation(
  scopeDirectory: string,
  source: RemoteSource,
  { resolved }: Pick<LockedPackage, "resolved">,
): InstallLocation {
  if (source.kind === "npm") {
    const directory = join(scopeDirectory, "npm", `${source.name}@${resolved}`);
    return { directory, root: join(directory, "node_modules", source.name) };
  }
  const parts = source.kind === "git" ? source.directory : [source.marketplace, source.name];
  const directory = `${join(scopeDirectory, source.kind, ...parts)}@${resolved.slice(0, 12)}`;
  return { directory, root: directory };
}

/**
 * A repository can have links below `.tau`, and what is installed or removed through one is a file of the user's. Throws
 * `invalid_input` for one on the way to the package. The user's own directories may be links.
 */
export async function mustFollowNoLink(
  source: RemoteSource,
  { scope, ...directories }: PackageDirectories & { scope: PackageScope },
): Promise<void> {
  if (scope === "user") return;
  const scopeDirectory = getScopeDirectory(scope, directories);
  const { directory } = getInstallLocation(scopeDirectory, source, { resolved: "" });
  for (let path = dirname(directory); isWithin(scopeDirectory, path); path = dirname(path)) {
    const stats = await unlessMissing(nodeFileSystem.lstat(path));
    if (stats && !stats.isDirectory()) {
      const message = `${path} is not a directory, so tau installs and removes nothing there. Remove it first.`;
      throw new HarnessError("invalid_input", message);
    }
  }
}
