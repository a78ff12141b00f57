/** Finds the git directories that belong to a workspace: where git reads its hooks and configuration from. */
import { dirname, join, relative, resolve } from "node:path";
import { isWithin } from "@tau/tools/platform";
import { type ConfigEntry, parseConfig } from "./config.ts";
import { findRealPath, listNames, lookAtPath, readText } from "../look.ts";
import { configNames } from "./what-git-runs.ts";
import { findAbove, RepositorySearch } from "./repository-search.ts";

export interface GitDirectories {
  /** All that commands may change, with the most important first: real paths. */
  readonly directories: readonly string[];
  /** Files called `.git` that name a git directory, as in a worktree. */
  readonly links: readonly string[];
  /** The paths that configuration names in the workspace: directories of hooks, and included files. They may be missing. */
  readonly named: readonly string[];
  /** Git directories of other worktrees, or the directory of all of them where there are many. */
  readonly others: readonly string[];
}

/**
 * How much is protected: each repository below the workspace is several mounts, and so is each directory that leads to it.
 * A command can make any number of them, and bubblewrap takes longer for each mount the more there are.
 */
const maxRepositories = 200;
const maxLeading = 600;
const maxDepth = 32;
const maxModules = 50;
const maxWorktrees = 100;
const maxIncluded = 50;

/** `below`: what a search below the workspace has found. */
export function findGitDirectories(
  workspace: string,
  home: string,
  below: readonly string[] = new RepositorySearch(workspace).list(),
): GitDirectories {
  const roots: string[] = [];
  const links: string[] = [];
  const directories = new Set<string>();
  const others: string[] = [];
  for (const dotGit of [findAbove(workspace), ...limit(below, workspace)]) {
    const stats = dotGit === undefined ? undefined : lookAtPath(dotGit);
    // Symbolic links are followed nowhere.
    if (dotGit === undefined || !stats || stats.isSymbolicLink()) continue;
    roots.push(dirname(dotGit));
    if (stats.isDirectory()) directories.add(dotGit);
    else {
      links.push(dotGit);
      for (const directory of followLink(dotGit)) directories.add(directory);
    }
  }
  const own = [...new Set([...directories, ...[...directories].flatMap(findModules)])];
  for (const directory of own) {
    const parent = join(directory, "worktrees");
    const worktrees = listNames(parent).map((name) => join(parent, name));
    if (worktrees.length > maxWorktrees) others.push(parent);
    else others.push(...worktrees.filter((path) => !own.some((mine) => isWithin(path, mine))));
  }
  const configs = [
    ...own.flatMap((directory) => configNames.map((name) => join(directory, name))),
    ...[".gitconfig", ".config/git/config"].map((name) => join(home, name)),
    "/etc/gitconfig",
  ];
  const named = findNamed(configs, { roots, home });
  const isOutside = (path: string) => path === workspace || !isWithin(workspace, path);
  const protectable = named.filter((path) => !isOutside(path) && !own.some((directory) => isWithin(directory, path)));
  return { directories: own, links, named: [...new Set(protectable)], others };
}

/** The nearest repositories come first. */
function limit(repositories: readonly string[], workspace: string): string[] {
  const leading = new Set<string>();
  return repositories.slice(0, maxRepositories).filter((path) => {
    const names = relative(workspace, dirname(path)).split("/");
    if (names.length > maxDepth || leading.size + names.length > maxLeading) return false;
    for (let count = 1; count <= names.length; count++) leading.add(names.slice(0, count).join("/"));
    return true;
  });
}

/**
 * The git directory that a file names, and the one that it shares with others. Only one that knows of this file is accepted:
 * else a project could name the repository of another one.
 */
export function followLink(file: string): string[] {
  const target = readLine(file, /^gitdir: (.+)$/);
  const directory = target === undefined ? undefined : findRealPath(resolve(dirname(file), target));
  if (directory === undefined) return [];
  const back = readLine(join(directory, "gitdir"), /^(.+)$/);
  if (back !== undefined) {
    if (findRealPath(resolve(directory, back)) !== file) return [];
    const common = readLine(join(directory, "commondir"), /^(.+)$/);
    const shared = common === undefined ? undefined : findRealPath(resolve(directory, common));
    if (shared === undefined || shared === directory) return [directory];
    return isWithin(join(shared, "worktrees"), directory) ? [shared, directory] : [directory];
  }
  const worktree = getValue(directory, "core.worktree");
  const isOurs = worktree !== undefined && findRealPath(resolve(directory, worktree)) === dirname(file);
  return isOurs ? [directory] : [];
}

/** To git, a line that follows belongs to the path. So a file with several lines is not understood. */
function readLine(path: string, pattern: RegExp): string | undefined {
  return pattern.exec(readText(path)?.replace(/[\r\n]+$/, "") ?? "")?.[1];
}

const getValue = (directory: string, key: string): string | undefined =>
  parseConfig(readText(join(directory, "config")) ?? "")?.findLast((entry) => entry.key === key)?.value;

/** The git directories of submodules, which may have others inside. */
function findModules(directory: string): string[] {
  const found: string[] = [];
  const search = (parent: string, depth: number) => {
    for (const name of listNames(parent)) {
      const path = join(parent, name);
      if (found.length >= maxModules || !lookAtPath(path)?.isDirectory()) continue;
      if (lookAtPath(join(path, "HEAD"))) {
        found.push(path);
        search(join(path, "modules"), depth);
      } else if (depth < 4) search(path, depth + 1);
    }
  };
  search(join(directory, "modules"), 0);
  return found;
}

/** Git resolves a directory of hooks in each work tree, and an included file beside the one that includes it. */
function findNamed(configs: readonly string[], { roots, home }: { roots: readonly string[]; home: string }): string[] {
  const expand = (value: string) => (value.startsWith("~/") ? join(home, value.slice(2)) : value);
  const hooks: string[] = [];
  const included = new Set<string>();
  const read = (config: string) => {
    for (const { key, value } of readEntries(config)) {
      if (key === "core.hookspath") hooks.push(...roots.map((root) => toHooks(resolve(root, expand(value)), root)));
      else if (/^include(?:if\..*)?\.path$/s.test(key) && included.size < maxIncluded)
        included.add(toReal(resolve(dirname(config), expand(value))));
    }
  };
  for (const config of configs) read(config);
  // Files that these include are read in the same loop.
  for (const config of included) read(config);
  return [...hooks, ...included];
}

/** People write configuration in more ways than git does. Then every line is taken that may be one of those looked for. */
function readEntries(config: string): readonly ConfigEntry[] {
  // The user's own is a link where it is kept in a repository of dotfiles.
  const text = readText(toReal(config)) ?? "";
  const lines = () => [...text.matchAll(/(?:^|\])[ \t]*(hookspath|path)[ \t]*=[ \t]*"?([^"\r\n]+)/gim)];
  return (
    parseConfig(text) ??
    lines().map(([, key, value]) => ({
      key: key!.toLowerCase() === "path" ? "include.path" : "core.hookspath",
      value: value!.trim(),
    }))
  );
}

const toReal = (path: string): string => findRealPath(path) ?? path;

/** Tools such as husky let git run hooks from the working tree, through one directory more. */
function toHooks(path: string, root: string): string {
  const real = findRealPath(path);
  return real?.endsWith("/_") && dirname(real) !== root ? dirname(real) : (real ?? path);
}
