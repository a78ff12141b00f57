/** Finds what commands must not see: credentials, and sockets of programs outside, through which they could act there. */
import type { NamedCredential } from "./credentials/named-credentials.ts";
import { readFileSync, type Stats } from "node:fs";
import { basename, dirname, join } from "node:path";
import { foldName, isWithin } from "@tau/tools/platform";
import { type CredentialHomes, isCredentialFile } from "./credentials/credential-files.ts";
import {
  type CredentialPath,
  type CredentialPaths,
  getHomePaths,
  getSystemPaths,
} from "./credentials/credential-paths.ts";
import { defaultOwnDirectories, isOwnSecret } from "./credentials/own-files.ts";
import { findRealPath, listEntries, listNames, lookAtPath, unlessUnseen } from "./look.ts";
import type { FoundPath } from "./mounts.ts";

interface HiddenOptions {
  home: string;
  agentDir: string;
  /** Credentials that environment variables lead to. Default: none. */
  named?: readonly NamedCredential[];
  /** Directories that are replaced as a whole, so that nothing in them needs hiding. */
  replaced: readonly string[];
  /** Sockets in it are the project's own. */
  workspace: string;
  /** Whether sockets count: not where connections to them are refused. */
  hidesSockets: boolean;
}

/** The system's own file systems are replaced or covered as a whole. */
const coveredFirst = new Set(["proc", "dev", "run", "tmp"]);
const maxHomes = 20;

/**
 * The paths that were found, and the directories that were looked at: while nothing is created in them, the answer stays.
 */
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
  const isOwn = (path: string) => isWithin(workspace, path);
  const isReplaced = (path: string) => !isOwn(path) && replaced.some((directory) => isWithin(directory, path));
  const credentials = listCredentialPaths(options, list).flatMap((path) => {
    const real = findRealPath(path);
    // What a name outside leads to in the workspace is a file of the project: people keep such files in a repository.
    return real === undefined || (isOwn(real) && !isOwn(path)) ? [] : [real];
  });
  const sockets = (options.hidesSockets ? findSockets() : []).filter((path) => !isOwn(path) && !isReplaced(path));
  const linked = findLinkedSecrets(options.agentDir, workspace);
  const hidden = [...credentials.filter((path) => !isReplaced(path)), ...linked, ...sockets.slice(0, maxSockets)];
  return { paths: [...new Set(hidden)].flatMap(describe), looked: [...looked] };
}

/** The existing files and directories with credentials: of the system, of all homes, and the agent's whole directory. */
export function listCredentialPaths(options: CredentialHomes, list: ListNames = listNames): string[] {
  const { home, agentDir, named = [] } = options;
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
      ...defaultOwnDirectories.flatMap((own) => findOwnSecrets(list, join(directory, ...own))),
    ]),
    ...expand(list, "/", withoutCovered(getSystemPaths())),
    ...named.flatMap(({ path, paths }) => (paths ? expand(list, path, paths) : findPath(list, path))),
    // Its secrets too, since parts of it are shown again.
    ...findOwnSecrets(list, agentDir),
    agentDir,
  ];
}

/** The secrets in a directory of tau. */
function findOwnSecrets(list: ListNames, directory: string): string[] {
  const agents = list(directory).includes("agents") ? list(join(directory, "agents")) : [];
  const names = [
    ...list(directory).map((name) => [name]),
    ...agents.flatMap((agent) => list(join(directory, "agents", agent)).map((name) => ["agents", agent, name])),
  ];
  return names.filter((path) => isOwnSecret(path.map(foldName))).map((path) => join(directory, ...path));
}

/** How many names of a workspace are looked at. */
const maxLookedNames = 20_000;

/** Other names in the workspace of tau's own secrets. It is searched only if one of them has another name at all. */
function findLinkedSecrets(agentDir: string, workspace: string): string[] {
  const toKey = ({ dev, ino }: Stats) => `${dev} ${ino}`;
  const secrets = findOwnSecrets(listNames, agentDir)
    .flatMap((path) => [path, ...listNames(path).map((name) => join(path, name))])
    .flatMap((path) => lookAtPath(path) ?? [])
    .filter((stats) => stats.isFile() && stats.nlink > 1);
  if (secrets.length === 0) return [];
  const keys = new Set(secrets.map(toKey));
  const found: string[] = [];
  const directories = [workspace];
  for (let looked = 0; directories.length > 0 && looked < maxLookedNames;) {
    const directory = directories.shift()!;
    for (const entry of listEntries(directory)) {
      looked++;
      const path = join(directory, entry.name);
      if (entry.isDirectory()) directories.push(path);
      const stats = entry.isFile() ? lookAtPath(path) : undefined;
      if (stats && stats.nlink > 1 && keys.has(toKey(stats))) found.push(path);
    }
  }
  return found;
}

/** A device holds nothing: people link names to `/dev/null` so that no program writes there. */
function describe(path: string): FoundPath[] {
  const stats = lookAtPath(path);
  return !stats || stats.isCharacterDevice() ? [] : [{ path, isDirectory: stats.isDirectory() }];
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

const findPath = (list: ListNames, path: string): string[] =>
  list(dirname(path)).includes(basename(path)) ? [path] : [];

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
  return [...new Set([...new Set(paths)].flatMap(findSocket))];
}

/** The system knows a socket by its first name. Some programs, such as ssh, give it another one in the same directory. */
function findSocket(path: string): string[] {
  const real = findRealPath(path);
  if (real !== undefined) return lookAtPath(real)?.isSocket() ? [real] : [];
  const directory = findRealPath(dirname(path));
  if (directory === undefined) return [];
  return listEntries(directory).flatMap((entry) => (entry.isSocket() ? [join(directory, entry.name)] : []));
}
