/** Fetches a package beside the installed ones, checks it, and puts it in its place once the user agrees. */
import { readdir, rename, rm, rmdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { type Ids, systemIds } from "@tau/ai";
import { getErrorMessage } from "@tau/ai/internal";
import { acquireLease, isAbandoned, nodeFileSystem, tolerate, unlessMissing } from "@tau/tools/platform";
import { namingFile, writeWhole } from "@tau/tools/durable";
import { HarnessError } from "@tau/protocol";
import { digestDirectory, digestFile } from "./digest.ts";
import { fetchGit } from "./fetch-git.ts";
import { fetchNpm } from "./fetch-npm.ts";
import { fetchPlugin } from "./fetch-plugin.ts";
import type { Fetched, FetchPorts } from "./fetch-ports.ts";
import {
  getInstallLocation,
  getScopeDirectory,
  mustFollowNoLink,
  type PackageDirectories,
} from "./install-location.ts";
import { forgetInstall, recordInstall } from "./install-records.ts";
import { bringsSomething, listResources, type ResourceNames } from "./list-resources.ts";
import { readLocalPackage } from "./local-package.ts";
import { changeLock, type LockedPackage, type PackageLock, readLock } from "./lock-file.ts";
import type { Manifest } from "./manifest.ts";
import type { Marketplace } from "./marketplaces.ts";
import type { PackageScope } from "./package-resources.ts";
import type { LocalSource, PackageSource, RemoteSource } from "./package-source.ts";
import { checkTree, digestTree } from "./tree.ts";

export interface FetchOptions extends PackageDirectories, FetchPorts {
  scope: PackageScope;
  /** The source that the settings will have. */
  text: string;
  /** Whether what the lock has is fetched again, and nothing else accepted. Default false: the newest that the source allows. */
  asLocked?: boolean;
  /** The marketplaces in which plugins are looked up; see `findMarketplaces`. Default: none. */
  marketplaces?: readonly Marketplace[];
  ids?: Ids;
}

/** A package that is checked and not used yet. */
export interface FetchedPackage {
  readonly source: PackageSource;
  readonly scope: PackageScope;
  /** Undefined for a local package, which stays where it is. */
  readonly locked: LockedPackage | undefined;
  /** The version that is installed now. */
  readonly previous: LockedPackage | undefined;
  readonly manifest: Manifest | undefined;
  readonly names: ResourceNames;
  /** The digest of the content that the user is shown, see `ExtensionSource.digest`. Undefined without extensions. */
  readonly extensionDigest: string | undefined;
  /** The directory in which the package is until it is enabled. */
  readonly root: string;
  /** The directory of `previous`, which may be missing. */
  readonly previousRoot: string | undefined;
  /** Uses it from now on, in place of `previous`. Returns its directory. Writes the lock; the settings are up to the caller. */
  enable(): Promise<string>;
  /** Removes what was fetched. Has no effect after `enable`. */
  discard(): Promise<void>;
}

/** Throws `HarnessError` `install_failed` with the reason. Nothing that is installed has changed then. */
export const fetchPackage = (source: PackageSource, options: FetchOptions): Promise<FetchedPackage> =>
  source.kind === "local" ? openLocal(source, options) : fetchRemote(source, options);

async function openLocal(source: LocalSource, { scope }: FetchOptions): Promise<FetchedPackage> {
  const found = await readLocalPackage(source.path);
  if (!found) throw new HarnessError("invalid_input", `There is no file or directory ${source.path}.`);
  mustBringSomething(found, source.path);
  const extensionDigest = digestExtensions(found, source.path);
  return {
    source,
    scope,
    locked: undefined,
    previous: undefined,
    manifest: found.manifest,
    names: found.names,
    extensionDigest,
    root: found.root,
    previousRoot: undefined,
    enable: () => Promise.resolve(found.root),
    discard: () => Promise.resolve(),
  };
}

function mustBringSomething(
  { names, manifest }: { names: ResourceNames; manifest: Manifest | undefined },
  name: string,
): void {
  if (bringsSomething(names, manifest)) return;
  const text = `${name} is not a package for tau: it has no extensions, skills, prompt templates, themes, agents or MCP servers.`;
  throw new HarnessError("install_failed", text);
}

/** At each start the content is compared, so what cannot be compared is refused before it is shown. */
function digestExtensions(
  { root, names, isFile = false }: { root: string; names: ResourceNames; isFile?: boolean },
  name: string,
): string | undefined {
  if (names.extensions.length === 0) return undefined;
  const outcome = isFile ? digestFile(root) : digestDirectory(root);
  if (outcome.kind === "digest") return outcome.digest;
  throw new HarnessError("install_failed", `The extensions of ${name} could not be trusted: ${outcome.message}`);
}

async function fetchRemote(source: RemoteSource, options: FetchOptions): Promise<FetchedPackage> {
  const { scope, text, asLocked = false, ids = systemIds } = options;
  const scopeDirectory = getScopeDirectory(scope, options);
  await mustFollowNoLink(source, options);
  const previous = (await readLock(scopeDirectory)).get(source.id);
  const base = join(scopeDirectory, source.kind);
  await removeLeftovers(base);
  const staging = join(base, `${stagingPrefix}${process.pid}-${ids()}`);
  const discard = async () => {
    await rm(staging, { recursive: true, force: true });
    await removeEmpty(base, scopeDirectory);
  };
  try {
    const directory = join(staging, "package");
    // First: as long as it is there, no other command removes the directory of packages as an empty one.
    await namingFile(base, () => nodeFileSystem.mkdir(staging, { recursive: true, mode: 0o700 }));
    await acquireLease(join(staging, leaseName), { ids });
    if (scope === "project") await ignoreInGit(base, ids);
    const wanted = { directory, locked: asLocked ? previous : undefined };
    const { anyAgeUntil, before } = getAgeLimit(options.before, previous);
    const ports = { ...options, before };
    const fetched = await fetchFrom(source, wanted, ports);
    await checkTree(directory);
    const locked = {
      source: text,
      ...fetched.locked,
      digest: await digestTree(fetched.root),
      ...(anyAgeUntil && { anyAgeUntil }),
    };
    const isAsLocked = previous?.digest === locked.digest && previous.integrity === fetched.locked.integrity;
    if (asLocked && previous && !isAsLocked) {
      const reason = `The content of ${source.id} ${locked.resolved} is not the one in packages-lock.json`;
      throw new HarnessError("install_failed", `${reason}, so it is refused.`);
    }
    const names = listResources(fetched.root, fetched.manifest);
    mustBringSomething({ names, manifest: fetched.manifest }, source.id);
    const extensionDigest = digestExtensions({ root: fetched.root, names }, source.id);
    const enable = async () => {
      const location = getInstallLocation(scopeDirectory, source, locked);
      await mustFollowNoLink(source, options);
      await changeLock(scopeDirectory, ids, async (lock) => {
        await replace(location.directory, directory);
        if (scope === "project") await recordInstall(location.directory, { ...options, ids });
        lock.set(source.id, locked);
      });
      await removeUnlocked(source, { ...options, ids });
      await discard();
      return location.root;
    };
    const { manifest, root } = fetched;
    const previousRoot = previous && getInstallLocation(scopeDirectory, source, previous).root;
    return { source, scope, locked, previous, manifest, names, extensionDigest, root, previousRoot, enable, discard };
  } catch (error) {
    await discard();
    if (error instanceof HarnessError && error.code === "install_failed") {
      throw new HarnessError("install_failed", `${text}: ${getErrorMessage(error)}`, { cause: error });
    }
    throw error;
  }
}

function fetchFrom(
  source: RemoteSource,
  wanted: { directory: string; locked: LockedPackage | undefined },
  { marketplaces = [], ...ports }: FetchPorts & Pick<FetchOptions, "marketplaces">,
): Promise<Fetched> {
  switch (source.kind) {
    case "npm":
      return fetchNpm(source, wanted, ports);
    case "git":
      return fetchGit(source, wanted, ports);
    case "plugin":
      return fetchPlugin(source, wanted, { ...ports, marketplaces });
  }
}

/** Computes `before` for a package of which releases of any age were allowed at some time, and until when they are. */
function getAgeLimit(
  before: Date | undefined,
  previous: LockedPackage | undefined,
): Pick<LockedPackage, "anyAgeUntil"> & Pick<FetchPorts, "before"> {
  if (!before) return { anyAgeUntil: new Date().toISOString(), before };
  const { anyAgeUntil } = previous ?? {};
  if (anyAgeUntil === undefined || new Date(anyAgeUntil) <= before) return { before };
  return { anyAgeUntil, before: new Date(anyAgeUntil) };
}

const stagingPrefix = ".staging-";
/** In a staging directory. Its holder fetches the package. */
const leaseName = "lease";
/** Longer than any install takes. */
const maxInstallMs = 60 * 60 * 1_000;

/** The file is replaced and not written to: the repository may have a link there. */
async function ignoreInGit(base: string, ids: Ids): Promise<void> {
  const file = { path: join(base, ".gitignore"), bytes: Buffer.from("*\n"), ids, mode: 0o644 };
  await writeWhole(nodeFileSystem, file);
}

/** Removes what installs have left that were killed. */
async function removeLeftovers(base: string): Promise<void> {
  for (const name of (await unlessMissing(readdir(base))) ?? []) {
    const pid = Number(new RegExp(`^\\${stagingPrefix}(\\d+)-`).exec(name)?.[1]);
    if (!Number.isInteger(pid)) continue;
    const path = join(base, name);
    // In another container with the same home directory the process may well run.
    const ageMs = Date.now() - ((await unlessMissing(stat(path)))?.mtimeMs ?? 0);
    const isLeft = (await isAbandoned(join(path, leaseName))) || (!isRunning(pid) && ageMs > maxInstallMs);
    if (isLeft) await rm(path, { recursive: true, force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** The old directory is there until the new one is. */
async function replace(target: string, from: string): Promise<void> {
  await nodeFileSystem.mkdir(dirname(target), { recursive: true, mode: 0o700 });
  const old = join(dirname(from), "old");
  await unlessMissing(rename(target, old));
  try {
    await rename(from, target);
  } catch (error) {
    await unlessMissing(rename(old, target));
    throw error;
  }
}

/**
 * Removes all versions that the lock does not have, what killed installs have left, and directories that are empty then. There
 * may be several versions: commands are killed, and two install the same package at once.
 */
export async function removeUnlocked(
  source: RemoteSource,
  { scope, ids = systemIds, ...directories }: PackageDirectories & { scope: PackageScope; ids?: Ids },
): Promise<void> {
  const scopeDirectory = getScopeDirectory(scope, directories);
  const base = join(scopeDirectory, source.kind);
  await removeLeftovers(base);
  await removeEmpty(base, scopeDirectory);
  const versions = await listVersions(scopeDirectory, source);
  const listUnlocked = (lock: PackageLock) => {
    const locked = lock.get(source.id);
    const kept = locked && getInstallLocation(scopeDirectory, source, locked).directory;
    return versions.filter((version) => version !== kept);
  };
  if (listUnlocked(await readLock(scopeDirectory)).length === 0) return;
  await changeLock(scopeDirectory, ids, async (lock) => {
    for (const version of listUnlocked(lock)) {
      if (scope === "project") await forgetInstall(version, { ...directories, ids });
      await rm(version, { recursive: true, force: true });
      await removeEmpty(dirname(version), scopeDirectory);
    }
  });
}

async function listVersions(scopeDirectory: string, source: RemoteSource): Promise<string[]> {
  const prefix = getInstallLocation(scopeDirectory, source, { resolved: "" }).directory;
  const names = (await unlessMissing(readdir(dirname(prefix)))) ?? [];
  // A repository may have the name `a@b`.
  const isVersion = (name: string) => name.startsWith(basename(prefix)) && !name.includes("@", basename(prefix).length);
  return names.filter(isVersion).map((name) => join(dirname(prefix), name));
}

/** A directory with nothing but the `.gitignore` that we wrote is empty too. */
async function removeEmpty(directory: string, end: string): Promise<void> {
  if (directory === end || !directory.startsWith(end)) return;
  const names = (await unlessMissing(readdir(directory))) ?? [];
  if (names.some((name) => name !== ".gitignore")) return;
  if (names.length > 0) await rm(join(directory, ".gitignore"), { force: true });
  if (await unlessMissing(stat(directory))) await tolerate(rmdir(directory), "ENOTEMPTY", "ENOENT");
  await removeEmpty(dirname(directory), end);
}
