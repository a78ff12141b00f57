/** Removes installed packages. */
import { type Ids, systemIds } from "@tau/ai";
import { removeInstalled } from "./fetch-package.ts";
import { getScopeDirectory, type PackageDirectories } from "./install-location.ts";
import { changeLock, readLock } from "./lock-file.ts";
import type { PackageScope } from "./package-resources.ts";
import type { PackageSource } from "./package-source.ts";

/** The lock first: what it does not have is not used. The entry of the settings is up to the caller. */
export async function removePackage(
  source: PackageSource,
  { ids = systemIds, ...options }: PackageDirectories & { scope: PackageScope; ids?: Ids },
): Promise<void> {
  if (source.kind === "local") return;
  const scopeDirectory = getScopeDirectory(options.scope, options);
  const locked = (await readLock(scopeDirectory)).get(source.id);
  if (!locked) return;
  await changeLock(scopeDirectory, ids, (lock) => lock.delete(source.id));
  await removeInstalled(source, locked, { ...options, ids });
}
