/** Finds what commands must not see: credentials, and sockets of programs outside, through which they could act there. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { foldName, isWithin } from "@tau/tools/platform";
import { type CredentialHomes, isCredentialFile } from "../policy/credential-files.ts";
import { type CredentialPath, type CredentialPaths, getHomePaths, getSystemPaths } from "../policy/credential-paths.ts";
import { listNames, lookAtPath, unlessUnseen } from "./look.ts";
import type { FoundPath } from "./mounts.ts";

export interface HiddenOptions {
  home: string;
  agentDir: string;
  /** Directories that are replaced as a whole, so that nothing in them needs hiding. */
  replaced: readonly string[];
  /** Sockets in it are the project's own. */
  workspace: string;
}

/** The system's own file systems are replaced or covered as a whole. */
const coveredFirst = new Set(["proc", "dev", "run", "tmp"]);
const maxHomes = 20;

/** What was found, and the directories that were looked at: while nothing is created in them, the answer is the same. */
export interface HiddenPaths {
  readonly paths: readonly FoundPath[];
  readonly looked: readonly string[];
}

type ListNames = typeof listNames;

export function findHiddenPaths(options: HiddenOptions): HiddenPaths {
  const looked = new Set<string>();
  const list: ListNames = (directory) => {
    looked.add(directory);
    return listNames(directory);
  };
  const { replaced, workspace } = options;
  const paths = listCredentialPaths(options, list);
  const isReplaced = (path: string) =>
    replaced.some((directory) => isWithin(directory, path) && !isWithin(workspace, path));
  const found = [...new Set(paths)].filter((path) => !isReplaced(path)).flatMap(describe);
  const sockets = findSockets().filter((path) => !isReplaced(path) && !isWithin(workspace, path));
  const open = sockets.filter((path) => lookAtPath(path)?.isSocket()).flatMap(describe);
  return { paths: [...found, ...open], looked: [...looked] };
}

/** The existing files and directories with credentials: of the system, of all homes, and the agent's whole directory. */
export function listCredentialPaths(options: CredentialHomes, list: ListNames = listNames): string[] {
  const { home, agentDir } = options;
  const homes = new Set([
    home,
    "/root",
    ...listNames("/home")
      .slice(0, maxHomes)
      .map((name) => join("/home", name)),
  ]);
  return [
    ...[...homes].flatMap((directory) => [
      ...expand(list, directory, getHomePaths()),
      ...findSshSecrets(list, directory, options),
    ]),
    ...expand(list, "/", withoutCovered(getSystemPaths())),
    agentDir,
  ];
}

/** A link is not hidden itself: what it leads to is, where that is a credential. */
function describe(path: string): FoundPath[] {
  const stats = lookAtPath(path);
  if (!stats || stats.isSymbolicLink()) return [];
  return [{ path, isDirectory: stats.isDirectory() }];
}

const withoutCovered = (paths: CredentialPaths): CredentialPaths =>
  new Map([...paths].filter(([first]) => !coveredFirst.has(first)));

/** The existing paths below `directory` that the patterns name, in any spelling. */
function expand(list: ListNames, directory: string, patterns: CredentialPaths): string[] {
  return list(directory).flatMap((name) => {
    const rest = patterns.get(foldName(name));
    return rest?.flatMap((path) => expandRest(list, join(directory, name), path)) ?? [];
  });
}

function expandRest(list: ListNames, directory: string, [first, ...rest]: CredentialPath): string[] {
  if (first === undefined) return [directory];
  const matches = (name: string) => (typeof first === "string" ? first === name : first.test(name));
  return list(directory)
    .filter((name) => matches(foldName(name)))
    .flatMap((name) => expandRest(list, join(directory, name), rest));
}

/** Most names in `.ssh` are keys, and a few are not. */
function findSshSecrets(list: ListNames, home: string, homes: CredentialHomes): string[] {
  const paths = list(join(home, ".ssh")).map((name) => join(home, ".ssh", name));
  return paths.filter((path) => isCredentialFile(path, homes));
}

const maxSockets = 200;

/** Sockets in the file system at which somebody listens. A read-only mount does not keep anyone from connecting to them. */
function findSockets(): string[] {
  const text = unlessUnseen(() => readFileSync("/proc/net/unix", "utf8")) ?? "";
  const paths = text.split("\n").flatMap((line) => /^\S+: \S+ \S+ \S+ \S+ \S+ +\d+ (\/.*)$/.exec(line)?.[1] ?? []);
  return [...new Set(paths)].slice(0, maxSockets);
}
