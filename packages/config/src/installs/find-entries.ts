/** Finds the files with which extensions begin: in a directory of extensions, or at a path that somebody named. */
import { realpathSync } from "node:fs";
import { basename, dirname, extname, join, relative, resolve, sep } from "node:path";
import { filterResources, findMatches } from "./filter-resources.ts";
import { findFile } from "./find-file.ts";
import { loadManifest } from "./manifest.ts";
import { getKind, listEntries } from "./read-directory.ts";

export interface Entry {
  /** The real path of the file. */
  readonly path: string;
  /** For people. */
  readonly name: string;
  /** The directory that belongs to the extension; for a single file, the one that it is in. */
  readonly baseDir: string;
  /** The file is all that there is: what else is in its directory belongs to others. */
  readonly isSingleFile: boolean;
}

export interface Entries {
  readonly entries: readonly Entry[];
  readonly problems: readonly { readonly extension: string; readonly message: string }[];
}

const none: Entries = { entries: [], problems: [] };

/** Directories whose manifests are being read, so that one that names itself is not read again. */
type Above = readonly string[];

/**
 * Finds entries one level deep: files, and directories with a manifest or an index. Nothing where there is no such
 * directory.
 */
export function findInDirectory(directory: string, above: Above = []): Entries {
  const entries = listEntries(directory).filter(({ name }) => !name.startsWith(".") && name !== "node_modules");
  return combine(
    entries.map(({ name, kind }) => {
      const path = join(directory, name);
      if (kind === "directory") return findInPackage(path, above) ?? none;
      return kind === "file" && /\.[jt]s$/.test(name) && !name.endsWith(".d.ts") ? found(toSingle(path)) : none;
    }),
  );
}

/** A file, an extension's directory, or a directory of extensions. */
export function findAt(path: string): Entries {
  switch (getKind(path)) {
    case "file":
      return found(toSingle(path));
    case "directory": {
      const inside = findInPackage(path) ?? findInDirectory(path);
      if (inside.entries.length > 0 || inside.problems.length > 0) return inside;
      return failed(path, "The directory has no extension: no package.json that names one, no index.ts and no file.");
    }
    case undefined:
      return failed(path, `There is no file or directory ${path}.`);
  }
}

/** Undefined where the directory is not one extension: it has neither a manifest that names files nor an index. */
export function findInPackage(directory: string, above: Above = []): Entries | undefined {
  const baseDir = realpathSync.native(directory);
  const manifest = loadManifest(baseDir);
  if (manifest instanceof Error) return failed(directory, `Its package.json cannot be read: ${manifest.message}`);
  const name = manifest?.name ?? basename(directory);
  const declared = above.includes(baseDir) ? undefined : manifest?.declared?.extensions;
  if (declared) return findDeclared(declared, { directory: baseDir, name, above });
  const start = ["index.ts", "index.js", ...(manifest?.main === undefined ? [] : [manifest.main])]
    .map((file) => join(baseDir, file))
    .map((path) => (getKind(path) === "directory" ? join(path, "index") : path))
    .map(findFile)
    .find((path) => path !== undefined);
  return start === undefined ? undefined : found({ path: start, name, baseDir, isSingleFile: false });
}

/**
 * Finds what a manifest names: files, directories, globs, and filters as in `filterResources`. `directory` is its real path,
 * `name` that of the package.
 */
export function findDeclared(
  patterns: readonly string[],
  { directory, name, above = [] }: { directory: string; name: string; above?: Above },
): Entries {
  const filters = patterns.filter((pattern) => /^[!+-]/.test(pattern));
  const added = patterns.flatMap((pattern) => (pattern.startsWith("+") ? pattern.slice(1) : pattern));
  const starts = added
    .filter((pattern) => !/^[!-]/.test(pattern))
    .flatMap((pattern) => findStarts(pattern, directory, [...above, directory]));
  const toName = (path: string) => relative(directory, path).split(sep).join("/");
  const names = [...new Set(starts.flatMap(({ path }) => (path === undefined ? [] : toName(path))))];
  const paths = filterResources(names, filters.length === 0 ? [] : [filters]).map((each) => join(directory, each));
  return {
    entries: paths.map((path) => ({
      path,
      name: paths.length > 1 ? `${name}/${getStem(path)}` : name,
      baseDir: directory,
      isSingleFile: false,
    })),
    problems: starts
      .filter(({ path }) => path === undefined)
      .map(({ pattern }) => ({
        extension: name,
        message: `Its package.json names ${resolve(directory, pattern)}, which is not there.`,
      })),
  };
}

/** A `path` is undefined where there is none. */
function findStarts(pattern: string, directory: string, above: Above): { pattern: string; path: string | undefined }[] {
  const at = resolve(directory, pattern);
  if (/[*?]/.test(pattern)) {
    const files = findMatches(directory, pattern).filter(isScript);
    return files.map((file) => ({ pattern, path: findFile(join(directory, file)) }));
  }
  if (getKind(at) !== "directory") return [{ pattern, path: findFile(at) }];
  const { entries } = findInPackage(at, above) ?? findInDirectory(at, above);
  return entries.map(({ path }) => ({ pattern, path }));
}

const isScript = (name: string): boolean => /\.[cm]?[jt]sx?$/.test(name) && !/\.d\.[cm]?ts$/.test(name);

const toSingle = (path: string): Entry => {
  const real = realpathSync.native(path);
  return { path: real, name: getStem(path), baseDir: dirname(real), isSingleFile: true };
};

/** The name of a file without its ending, or of the directory of an index. */
const getStem = (path: string): string => {
  const stem = basename(path, extname(path));
  return stem === "index" ? basename(dirname(path)) : stem;
};

const found = (entry: Entry): Entries => ({ entries: [entry], problems: [] });
const failed = (extension: string, message: string): Entries => ({ entries: [], problems: [{ extension, message }] });
const combine = (lists: readonly Entries[]): Entries => ({
  entries: lists.flatMap(({ entries }) => entries),
  problems: lists.flatMap(({ problems }) => problems),
});
