/** Resolves the resources that installed packages bring to a session. Starts no process and fetches nothing. */
import { join } from "node:path";
import { getErrorMessage } from "@tau/ai/internal";
import { lookAt, nodeFileSystem, systemCode } from "@tau/tools/platform";
import { HarnessError } from "@tau/protocol";
import { getRealPath } from "../settings/locate.ts";
import { combineEntries, type ConfiguredPackage } from "./combine-entries.ts";
import { readLocalPackage } from "./local-package.ts";
import { filterResources } from "./filter-resources.ts";
import { getInstallLocation, getScopeDirectory, type PackageDirectories } from "./install-location.ts";
import { isAsInstalled } from "./install-records.ts";
import { bringsSomething, listResources, type ResourceNames } from "./list-resources.ts";
import { type PackageLock, readLock } from "./lock-file.ts";
import { type Manifest, readManifest, readPluginManifest } from "./manifest.ts";
import type { MarketplaceManifest } from "./marketplace-manifest.ts";
import type { PackageEntry } from "./package-entry.ts";
import { type PackageProblem, type PackageResources, type PackageScope, resourceKinds } from "./package-resources.ts";
import type { RemoteSource } from "./package-source.ts";

export interface ResolveOptions extends PackageDirectories {
  /** The setting `packages` of each scope, with absolute paths; see `SettingsManager.getGiven`. */
  entries: Readonly<Record<PackageScope, readonly PackageEntry[]>>;
}

/** A package with everything that it could bring, for the list of resources. */
export interface ResolvedPackage {
  readonly configured: ConfiguredPackage;
  /** The version or commit; undefined for a local package. */
  readonly resolved: string | undefined;
  readonly names: ResourceNames;
  readonly resources: PackageResources;
  /** The plugins that it lists, if it is a marketplace. */
  readonly marketplace: MarketplaceManifest | undefined;
}

export interface ResolvedPackages {
  readonly packages: readonly PackageResources[];
  readonly problems: readonly PackageProblem[];
}

/** Packages that are not installed, or not as they were, are problems and bring nothing. */
export async function resolvePackages(options: ResolveOptions): Promise<ResolvedPackages> {
  const { packages, problems } = await inspectPackages(options);
  return { packages: packages.map(({ resources }) => resources), problems };
}

export async function inspectPackages(
  options: ResolveOptions,
): Promise<{ packages: readonly ResolvedPackage[]; problems: readonly PackageProblem[] }> {
  const combined = combineEntries(options.entries, getRealPath);
  const problems = [...combined.problems];
  const packages: ResolvedPackage[] = [];
  const locks = new Map<PackageScope, Promise<PackageLock>>();
  const openLock = (scope: PackageScope): Promise<PackageLock> => {
    if (!locks.has(scope)) locks.set(scope, readLock(getScopeDirectory(scope, options)));
    return locks.get(scope)!;
  };
  for (const configured of combined.packages) {
    const { scope, entry } = configured;
    const found = await inspect(configured, openLock, options).catch(toProblem(entry.source));
    if (found.kind === "found") packages.push(found.package);
    else problems.push({ ...found, source: entry.source, scope });
  }
  return { packages, problems };
}

/** A damaged lock, or files that the system does not let us read, concern this package only. */
const toProblem =
  (text: string) =>
  (error: unknown): Problem => {
    if (error instanceof HarnessError) return { kind: "invalid", message: error.message };
    if (systemCode(error) === undefined) throw error;
    return {
      kind: "invalid",
      message: `The package ${text} cannot be read, so it is skipped: ${getErrorMessage(error)}`,
    };
  };

type Problem = Pick<PackageProblem, "kind" | "message">;
type Inspected = { readonly kind: "found"; readonly package: ResolvedPackage } | Problem;
type Located =
  | {
      readonly kind: "found";
      readonly root: string;
      /** See `PackageResources`. Default: `root`. */
      readonly directory?: string;
      readonly names: ResourceNames;
      readonly manifest: Manifest | undefined;
      readonly resolved?: string;
      /** Whether the package is one file. */
      readonly isFile?: boolean;
    }
  | Problem;

async function inspect(
  configured: ConfiguredPackage,
  openLock: (scope: PackageScope) => Promise<PackageLock>,
  options: ResolveOptions,
): Promise<Inspected> {
  const { source, scope, entry, filters } = configured;
  const located =
    source.kind === "local"
      ? await locateLocal(source.path)
      : await locateInstalled({ source, scope, text: entry.source }, await openLock(scope), options);
  if (located.kind !== "found") return located;
  const { root, directory = root, names, manifest, resolved, isFile = false } = located;
  if (!bringsSomething(names, manifest)) {
    const message = `The package ${entry.source} has no extensions, skills, prompt templates, themes, agents or MCP servers.`;
    return { kind: "empty", message };
  }
  const counted = resourceKinds.map((kind) => [
    kind,
    filterResources(names[kind], filters[kind]).map((name) => (isFile ? root : join(root, name))),
  ]);
  const lists = Object.fromEntries(counted) as ResourceNames;
  const { servers = {} } = manifest ?? {};
  const resources = { id: source.id, root, directory, scope, source: entry.source, ...lists, servers };
  const marketplace = manifest?.marketplace;
  return { kind: "found", package: { configured, resolved, names, resources, marketplace } };
}

async function locateLocal(path: string): Promise<Located> {
  const found = await readLocalPackage(path);
  if (found) return { kind: "found", ...found };
  return { kind: "not_installed", message: `The package ${path} does not exist, so it is skipped.` };
}

async function locateInstalled(
  { source, scope, text }: { source: RemoteSource; scope: PackageScope; text: string },
  lock: PackageLock,
  options: ResolveOptions,
): Promise<Located> {
  const command = `tau install${scope === "project" ? " -l" : ""}`;
  const describe = (kind: PackageProblem["kind"], what: string): Problem => ({
    kind,
    message: `${what}, so it is skipped. To install it: ${command}`,
  });
  const locked = lock.get(source.id);
  if (!locked) return describe("not_installed", `The package ${text} is not installed`);
  if (locked.source !== text) {
    return describe("changed", `The package ${text} is not installed, but ${locked.source} is`);
  }
  const { directory, root } = getInstallLocation(getScopeDirectory(scope, options), source, locked);
  if (!(await lookAt(nodeFileSystem, root))?.isDirectory()) {
    return describe("not_installed", `The files of the package ${text} are missing`);
  }
  if (scope === "project" && !(await isAsInstalled(directory, options.agentDir))) {
    return describe("changed", `The files of the package ${text} are not those that tau installed here`);
  }
  const manifest = source.kind === "plugin" ? readPluginManifest(root) : readManifest(root);
  const names = listResources(root, manifest);
  return { kind: "found", root, directory, manifest, names, resolved: locked.resolved };
}
