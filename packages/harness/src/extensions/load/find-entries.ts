/** Finds the files with which extensions begin: in a directory of extensions, or at a path that somebody named. */
import { realpathSync } from "node:fs";
import { basename, dirname, extname, join } from "node:path";
import { isRecord } from "@tau/ai/internal";
import { matchesGlob } from "../../models/scope.ts";
import { createPathFilter, resolvePathEntry } from "../../resources/path-filter.ts";
import type { ExtensionProblem } from "../extension.ts";
import { getKind, listEntries, readManifest } from "./read-directory.ts";
import { findFile } from "./resolve-import.ts";

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
  readonly problems: readonly ExtensionProblem[];
}

const none: Entries = { entries: [], problems: [] };

/** One level deep: files, and directories with a manifest or an index. Nothing where there is no such directory. */
export function findInDirectory(directory: string): Entries {
  const entries = listEntries(directory).filter(({ name }) => !name.startsWith(".") && name !== "node_modules");
  return combine(
    entries.map(({ name, kind }) => {
      const path = join(directory, name);
      if (kind === "directory") return findInPackage(path) ?? none;
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
export function findInPackage(directory: string): Entries | undefined {
  const manifest = readManifest(directory);
  if (manifest instanceof Error) return failed(directory, `Its package.json cannot be read: ${manifest.message}`);
  const name = typeof manifest?.["name"] === "string" ? manifest["name"] : basename(directory);
  const files = listManifestFiles(manifest);
  if (files) return findManifestFiles(files, { directory, name });
  const main = manifest?.["main"];
  const start = ["index.ts", "index.js", ...(typeof main === "string" ? [main] : [])]
    .map((file) => join(directory, file))
    .map((path) => (getKind(path) === "directory" ? join(path, "index") : path))
    .map(findFile)
    .find((path) => path !== undefined);
  if (start === undefined) return undefined;
  return found({ path: start, name, baseDir: realpathSync.native(directory), isSingleFile: false });
}

function listManifestFiles(manifest: Record<string, unknown> | undefined): string[] | undefined {
  for (const key of ["tau", "pi"]) {
    const section = manifest?.[key];
    const files = isRecord(section) ? section["extensions"] : undefined;
    if (Array.isArray(files)) return files.filter((file) => typeof file === "string");
  }
  return undefined;
}

function findManifestFiles(
  files: readonly string[],
  { directory, name }: { directory: string; name: string },
): Entries {
  const baseDir = realpathSync.native(directory);
  const filter = createPathFilter(files.map((file) => resolvePathEntry(file, baseDir, (path) => path)));
  const starts = filter.roots.flatMap(listStarts);
  const missing = starts.filter(({ path }) => path === undefined);
  const paths = starts.flatMap(({ path }) => path ?? []).filter(filter.includes);
  return {
    entries: paths.map((path) => ({
      path,
      name: paths.length > 1 ? `${name}/${getStem(path)}` : name,
      baseDir,
      isSingleFile: false,
    })),
    problems: missing.map(({ root }) => ({
      extension: name,
      message: `Its package.json names ${root}, which is not there.`,
    })),
  };
}

/** The files that one line of a manifest names. A `path` is undefined where there is none. */
function listStarts(root: string): { root: string; path: string | undefined }[] {
  if (root.includes("*")) {
    const entries = listEntries(dirname(root)).filter(({ name }) => matchesGlob(basename(root), name));
    return entries.map(({ name }) => ({ root, path: findFile(join(dirname(root), name)) }));
  }
  if (getKind(root) !== "directory") return [{ root, path: findFile(root) }];
  const { entries } = findInPackage(root) ?? findInDirectory(root);
  return entries.map(({ path }) => ({ root, path }));
}

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
