/** Finds all extensions of a session, without loading any. */
import { join, resolve } from "node:path";
import { createPathFilter, type PathFilter } from "@tau/config/settings";
import {
  digestDirectory,
  digestFile,
  type Entries,
  type Entry,
  findAt,
  findInDirectory,
  getKind,
  findPackage,
  listGlobalDirectories,
} from "@tau/config/internal";
import { getOwner } from "@tau/config/installs";
import type { SourceInfo } from "../api/api.ts";
import type { ExtensionOrigin, ExtensionProblem, ExtensionSource } from "../api/extension.ts";

/** The extensions of an installed package. */
export interface PackageExtensions {
  /** Stays equal over time, see `ExtensionSource.id`. */
  readonly id: string;
  readonly root: string;
  readonly scope: "user" | "project";
  /** The source as it is in the settings. */
  readonly source: string;
  /** Absolute paths of files or directories. */
  readonly extensions: readonly string[];
}

export interface DiscoverOptions {
  cwd: string;
  agentDir: string;
  /** Files, directories or packages that were named on the command line, relative to `cwd`. */
  paths: readonly string[];
  /** Packages that were named on the command line and fetched for this run. Default: none. */
  namedPackages?: readonly Omit<PackageExtensions, "scope">[];
  /** The lists `extensions` of the settings, with absolute paths and filters; see `createPathFilter`. */
  userPaths: readonly string[];
  projectPaths: readonly string[];
  packages: readonly PackageExtensions[];
  /** False: only `paths`. */
  discovers: boolean;
  /** False: nothing of the project is looked at. */
  isProjectTrusted: boolean;
}

/** Where entries were found, which decides what they are to be called. */
interface Place {
  readonly origin: ExtensionOrigin;
  readonly scope: SourceInfo["scope"];
  readonly source: string;
  readonly package?: Omit<PackageExtensions, "scope">;
  /** See `ExtensionSource.project`. */
  readonly project?: string | undefined;
}

/**
 * In the order in which they are loaded: the command line, the user, the project; of each the directories, the settings, the
 * packages. Of several ways to one file, the first applies: a project cannot take the place of what the user has.
 */
export async function discoverExtensions(
  options: DiscoverOptions,
): Promise<{ sources: ExtensionSource[]; problems: ExtensionProblem[] }> {
  const sources = new Map<string, ExtensionSource>();
  const problems: ExtensionProblem[] = [];
  const add = (found: Entries, place: Place): void => {
    problems.push(...found.problems);
    for (const entry of found.entries) {
      if (sources.has(entry.path)) continue;
      const source = toSource(entry, place);
      if ("digest" in source) sources.set(entry.path, source);
      else problems.push(source);
    }
  };

  const { cwd, agentDir, isProjectTrusted } = options;
  const { ofProject, ofUser } = listPackageDirectories(options);
  for (const path of options.paths) {
    add(
      findNamed(path, cwd, () => [...ofProject(), ...ofUser()]),
      { origin: "flag", scope: "temporary", source: "cli" },
    );
  }
  for (const one of options.namedPackages ?? []) {
    const place = { origin: "flag", scope: "temporary", source: one.source, package: one } as const;
    for (const path of one.extensions) add(findAt(path), place);
  }
  if (!options.discovers) return { sources: [...sources.values()], problems };

  // What the user's settings name is trusted, so a project must not be able to supply it.
  const user = { scope: "user", directories: [agentDir], entries: options.userPaths, installed: ofUser } as const;
  const project = {
    scope: "project",
    directories: [join(cwd, ".tau"), join(cwd, ".pi")],
    entries: options.projectPaths,
    installed: ofProject,
  } as const;
  for (const { scope, directories, entries, installed } of isProjectTrusted ? [user, project] : [user]) {
    const filter = createPathFilter(entries);
    for (const directory of directories) {
      const found = findInDirectory(join(directory, "extensions"));
      add(leaveOut(found, filter), { origin: scope, scope, source: "auto" });
    }
    for (const root of filter.roots) {
      add(leaveOut(findNamed(root, cwd, installed), filter), { origin: scope, scope, source: "local" });
    }
    for (const one of options.packages.filter((candidate) => candidate.scope === scope)) {
      const owner = getOwner(scope, cwd);
      const place = { origin: "package", scope, source: one.source, package: one, project: owner } as const;
      for (const path of one.extensions) add(findAt(path), place);
    }
  }
  return { sources: [...sources.values()], problems };
}

type ListDirectories = () => readonly string[];

/** Where npm puts packages that can be named. The user's own are in files that most starts need not read. */
const listPackageDirectories = ({ cwd, agentDir }: Pick<DiscoverOptions, "cwd" | "agentDir">) => ({
  ofProject: () => [join(cwd, "node_modules")],
  ofUser: () => [join(agentDir, "npm", "node_modules"), ...listGlobalDirectories()],
});

/** Whether there is a file, a directory or a package that a person means on the command line. */
export function existsNamed(path: string, place: Pick<DiscoverOptions, "cwd" | "agentDir">): boolean {
  const { ofProject, ofUser } = listPackageDirectories(place);
  return getKind(locateNamed(path, place.cwd, () => [...ofProject(), ...ofUser()])) !== undefined;
}

const findNamed = (path: string, cwd: string, listDirectories: ListDirectories): Entries =>
  findAt(locateNamed(path, cwd, listDirectories));

/** A path; where there is none, the name of a package that npm has put into one of the directories. */
function locateNamed(path: string, cwd: string, listDirectories: ListDirectories): string {
  const absolute = resolve(cwd, path);
  const directory = getKind(absolute) === undefined ? findPackage(path, listDirectories()) : undefined;
  return directory ?? absolute;
}

/** A pattern can mean the file or the directory of the extension. */
const leaveOut = (found: Entries, filter: PathFilter): Entries => ({
  ...found,
  entries: found.entries.filter(
    ({ path, baseDir, isSingleFile }) => filter.includes(path) && (isSingleFile || filter.includes(baseDir)),
  ),
});

/**
 * Creates the source of an extension. Unless it is the user's own, its digest covers all files: they were looked at,
 * and may not change unnoticed.
 */
function toSource(entry: Entry, place: Place): ExtensionSource | ExtensionProblem {
  const directory = place.package?.root ?? (entry.isSingleFile ? undefined : entry.baseDir);
  // A package that is one file has no directory of its own.
  const root = directory === entry.path ? undefined : directory;
  const name = place.package ? nameOfPackage(entry, place.package) : entry.name;
  const source = {
    id: place.package?.id ?? entry.path,
    project: place.project,
    name,
    path: entry.path,
    origin: place.origin,
    info: {
      path: entry.path,
      source: place.source,
      scope: place.scope,
      origin: place.package ? ("package" as const) : ("top-level" as const),
      baseDir: root ?? entry.baseDir,
    },
  };
  if (!place.package && (place.origin === "user" || place.origin === "flag")) return withLateDigest(source);
  const read = () => (root === undefined ? digestFile(entry.path) : digestDirectory(root));
  const outcome = read();
  if (outcome.kind === "failed") return { extension: name, message: outcome.message };
  const { digest } = outcome;
  const isUnchanged = () => {
    const now = read();
    return now.kind === "digest" && now.digest === digest;
  };
  return { ...source, digest, isUnchanged };
}

/** The user's own are trusted whatever is in them, so their files are read only when somebody asks. */
function withLateDigest(source: Omit<ExtensionSource, "digest">): ExtensionSource {
  let digest: string | undefined;
  return {
    ...source,
    get digest() {
      if (digest !== undefined) return digest;
      const outcome = digestFile(source.path);
      digest = outcome.kind === "digest" ? outcome.digest : "";
      return digest;
    },
  };
}

const nameOfPackage = (entry: Entry, { id, extensions }: Omit<PackageExtensions, "scope">): string =>
  extensions.length > 1 ? `${id}/${entry.name}` : id;
