/** Removes installed packages. */
import { type Ids, systemIds } from "@tau/ai";
import { removeUnlocked } from "./fetch-package.ts";
import { getScopeDirectory, mustFollowNoLink, type PackageDirectories } from "./install-location.ts";
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
  await mustFollowNoLink(source, options);
  const isLocked = (await readLock(scopeDirectory)).has(source.id);
  if (isLocked) await changeLock(scopeDirectory, ids, (lock) => void lock.delete(source.id));
  await removeUnlocked(source, { ...options, ids });
}
