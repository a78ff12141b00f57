/** All extensions of a session with their states. Loads none of them. */
import { join } from "node:path";
import { getErrorMessage } from "@tau/ai/internal";
import { findGlobalPackages, getPackageEntries, type PackageResources, resolvePackages } from "@tau/config/installs";
import { readLocalPackage, findStoredTrust, isBuiltinEntry } from "@tau/config/internal";
import { type ExtensionTrustState, listExtensionTrust } from "@tau/config/trust";
import type { ExtensionProblem, ExtensionSource } from "../api/extension.ts";
import { resolveExtensionState } from "./extension-state.ts";
import type { ExtensionPlace, NamedPackage } from "./has-extensions.ts";
import { discoverExtensions, type PackageExtensions } from "./discover.ts";

export interface FindExtensionsOptions extends ExtensionPlace {
  /** Files or directories that the user named. Default: none. */
  paths?: readonly string[];
  /** Packages that the user named. Default: none. */
  packages?: readonly NamedPackage[];
  /** Whether others than those of `paths` are found. Default true. */
  discovers?: boolean;
  /** Whether those of a project that is not trusted are found too; they are pending. Default false. */
  includesUntrusted?: boolean;
}

export interface FoundExtension {
  readonly source: ExtensionSource;
  readonly state: ExtensionTrustState;
}

export interface FoundExtensions {
  /** In the order in which they are loaded. */
  readonly extensions: readonly FoundExtension[];
  /** The installed packages: their other resources are used too. */
  readonly packages: readonly PackageResources[];
  readonly problems: readonly ExtensionProblem[];
}

export async function findExtensions(options: FindExtensionsOptions): Promise<FoundExtensions> {
  const { cwd, agentDir, settings, paths = [], packages = [], discovers = true, includesUntrusted = false } = options;
  const { isProjectTrusted } = settings;
  const entries = discovers ? getPackageEntries(settings) : { user: [], project: [] };
  const resolved = await resolvePackages({ cwd, agentDir, entries });
  const ofNpm = discovers ? await readGlobalPackages(agentDir) : { packages: [], problems: [] };
  const found = await discoverExtensions({
    cwd,
    agentDir,
    paths,
    namedPackages: packages,
    userPaths: listPaths(settings, "global"),
    projectPaths: listPaths(settings, "project"),
    packages: [...resolved.packages, ...ofNpm.packages],
    discovers,
    isProjectTrusted: isProjectTrusted || includesUntrusted,
  });
  const stored = found.sources.length === 0 ? [] : await listExtensionTrust({ agentDir });
  const extensions = found.sources.map((source) => ({
    source,
    state: resolveExtensionState(source, findStoredTrust(stored, source), {
      isProjectTrusted,
      named: packages.find(({ id }) => id === source.id)?.state,
    }),
  }));
  const problems = resolved.problems.map(({ source, message }) => ({ extension: source, message }));
  return { extensions, packages: resolved.packages, problems: [...problems, ...ofNpm.problems, ...found.problems] };
}

/** Lists what the settings name on the disk. Parts of the program are turned on and off elsewhere. */
const listPaths = (settings: ExtensionPlace["settings"], scope: "global" | "project"): readonly string[] =>
  (settings.getGiven(scope, "extensions") ?? []).filter((entry) => !isBuiltinEntry(entry));

/**
 * Reads the packages that npm installed for the user. Only their extensions are used, and they are pending until the
 * user has answered.
 */
async function readGlobalPackages(
  agentDir: string,
): Promise<{ packages: PackageExtensions[]; problems: ExtensionProblem[] }> {
  const packages: PackageExtensions[] = [];
  const problems: ExtensionProblem[] = [];
  for (const { name, path } of findGlobalPackages(agentDir)) {
    const id = `npm-global:${name}`;
    try {
      const found = await readLocalPackage(path);
      const extensions = found?.names.extensions.map((file) => join(found.root, file)) ?? [];
      if (found) packages.push({ id, root: found.root, scope: "user", source: name, extensions });
    } catch (error) {
      problems.push({ extension: id, message: `It cannot be read, so it is skipped: ${getErrorMessage(error)}` });
    }
  }
  return { packages, problems };
}
