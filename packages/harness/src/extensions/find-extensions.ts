/** All extensions of a session with their states. Loads none of them. */
import { getPackageEntries } from "../packages/package-settings.ts";
import type { PackageResources } from "../packages/package-resources.ts";
import { resolvePackages } from "../packages/resolve-packages.ts";
import { type ExtensionTrustState, findStoredTrust, listExtensionTrust } from "../policy/extension-trust.ts";
import type { ExtensionProblem, ExtensionSource } from "./extension.ts";
import { resolveExtensionState } from "./extension-state.ts";
import type { ExtensionPlace, NamedPackage } from "./has-extensions.ts";
import { discoverExtensions } from "./load/discover.ts";

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
  /** The installed packages: their other resources count too. */
  readonly packages: readonly PackageResources[];
  readonly problems: readonly ExtensionProblem[];
}

export async function findExtensions(options: FindExtensionsOptions): Promise<FoundExtensions> {
  const { cwd, agentDir, settings, paths = [], packages = [], discovers = true, includesUntrusted = false } = options;
  const { isProjectTrusted } = settings;
  const entries = discovers ? getPackageEntries(settings) : { user: [], project: [] };
  const resolved = await resolvePackages({ cwd, agentDir, entries });
  const found = await discoverExtensions({
    cwd,
    agentDir,
    paths,
    namedPackages: packages,
    userPaths: settings.getGiven("global", "extensions") ?? [],
    projectPaths: settings.getGiven("project", "extensions") ?? [],
    packages: resolved.packages,
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
  return { extensions, packages: resolved.packages, problems: [...problems, ...found.problems] };
}
