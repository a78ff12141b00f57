/** `packages-lock.json`, beside the settings: which version of each package is installed, and what its content is. */
import { join } from "node:path";
import { unlink } from "node:fs/promises";
import { type Ids, systemClock } from "@tau/ai";
import { isRecord, tryParseJson } from "@tau/ai/internal";
import { nodeFileSystem, tolerate } from "@tau/tools/platform";
import { namingFile, readWhole, writeWhole, holdLease } from "@tau/tools/durable";
import { HarnessError } from "@tau/protocol";
import { toInnerPath } from "./marketplace-manifest.ts";
import { parseSource } from "./package-source.ts";

export interface LockedPackage {
  /** The source as in the settings. */
  readonly source: string;
  /** The version, or the commit. */
  readonly resolved: string;
  /** The integrity of the archive, as npm has it. Git needs none: a commit is one. */
  readonly integrity?: string;
  /** The digest of the content; see `digestTree`. */
  readonly digest: string;
  /**
   * When it was installed without regard to the age of releases, as an ISO date. Those that there were then stay allowed:
   * otherwise an update would go back to an older one.
   */
  readonly anyAgeUntil?: string;
  /** The `packages` of npm's own lock, with the integrity of every dependency. */
  readonly dependencies?: Readonly<Record<string, unknown>>;
  /** Where a plugin of a marketplace is, as the marketplace had it. */
  readonly plugin?: LockedPlugin;
}

export interface LockedPlugin {
  /** The repository: a source of the kind `git`. */
  readonly source: string;
  /** The directory in it, with slashes. Empty for the repository itself. */
  readonly path: string;
  /** The manifest that the marketplace has for it, if it has none itself. */
  readonly manifest?: Readonly<Record<string, unknown>>;
}

/** By the id of the package. */
export type PackageLock = ReadonlyMap<string, LockedPackage>;

const getLockPath = (scopeDirectory: string): string => join(scopeDirectory, "packages-lock.json");

/** Empty if there is no file. Throws `HarnessError` `invalid_input` for a damaged one. */
export async function readLock(scopeDirectory: string): Promise<PackageLock> {
  const path = getLockPath(scopeDirectory);
  const bytes = await readWhole(nodeFileSystem, path);
  if (!bytes) return new Map();
  const value = tryParseJson(bytes.toString("utf8").replace(/^\uFEFF/, ""));
  const packages = isRecord(value) && value["version"] === 1 ? value["packages"] : undefined;
  if (!isRecord(packages) || !Object.values(packages).every(isLocked)) {
    const advice = "Restore it, or remove it and install the packages again: tau install";
    throw new HarnessError("invalid_input", `${path} is damaged, or was written by another version of tau. ${advice}`);
  }
  return new Map(Object.entries(packages as Record<string, LockedPackage>));
}

const maxWaitMs = 60_000;

/** No other process changes it or the installed packages meanwhile. A lock without packages is removed. */
export async function changeLock(
  scopeDirectory: string,
  ids: Ids,
  work: (lock: Map<string, LockedPackage>) => void | Promise<void>,
): Promise<void> {
  const path = getLockPath(scopeDirectory);
  await namingFile(path, async () => {
    await nodeFileSystem.mkdir(scopeDirectory, { recursive: true, mode: 0o700 });
    await holdLease(path, { clock: systemClock, ids, maxWaitMs }, async () => {
      const lock = new Map(await readLock(scopeDirectory));
      await work(lock);
      await writeLock(path, lock, ids);
    });
  });
}

async function writeLock(path: string, lock: PackageLock, ids: Ids): Promise<void> {
  if (lock.size === 0) return void (await tolerate(unlink(path), "ENOENT"));
  const packages = Object.fromEntries([...lock].sort(([a], [b]) => (a < b ? -1 : 1)));
  const bytes = Buffer.from(`${JSON.stringify({ version: 1, packages }, undefined, 2)}\n`);
  await writeWhole(nodeFileSystem, { path, bytes, ids, mode: 0o644 });
}

/** Nothing of it can lead out of the directory of packages. */
const resolvedForm = /^[\w][\w.+-]*$/;

function isLocked(value: unknown): value is LockedPackage {
  if (!isRecord(value)) return false;
  const { source, resolved, integrity, digest, anyAgeUntil, dependencies, plugin } = value;
  const isText = (each: unknown) => typeof each === "string";
  return (
    isText(source) &&
    typeof resolved === "string" &&
    resolvedForm.test(resolved) &&
    (integrity === undefined || isText(integrity)) &&
    isText(digest) &&
    (anyAgeUntil === undefined || (typeof anyAgeUntil === "string" && !Number.isNaN(Date.parse(anyAgeUntil)))) &&
    (dependencies === undefined || isRecord(dependencies)) &&
    (plugin === undefined || isLockedPlugin(plugin))
  );
}

const isLockedPlugin = (value: unknown): boolean =>
  isRecord(value) &&
  typeof value["source"] === "string" &&
  parseSource(value["source"], "/").kind === "git" &&
  typeof value["path"] === "string" &&
  toInnerPath(value["path"]) === value["path"] &&
  (value["manifest"] === undefined || isRecord(value["manifest"]));
