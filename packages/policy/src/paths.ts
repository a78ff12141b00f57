/** Which paths are allowed, denied or need a question: the rules of the policy and of the guard of opened files. Pure. */
import { isAbsolute, resolve } from "node:path";
import { isWithin } from "@tau/tools/platform";
import { isOwnWorktree } from "./own-worktree.ts";
import { HarnessError } from "@tau/protocol";
import { isProtectedPath, isCredentialFile, isOwnSettingsFile, type NamedCredential } from "@tau/sandbox/internal";

/** All are real paths: for a link, the path that it leads to. */
export interface PathRules {
  /** Directories in which everything but credentials may be read and written: workspace, added directories, temporary files. */
  roots: readonly string[];
  /** Directories that may also be read without a question: skills and other resources. Default: none. */
  readable?: readonly string[];
  /** Directories in which only the roots inside them apply, and none that is above them. Default: none. */
  closed?: readonly string[];
  /** Whether everything else is denied, so that nobody is asked about it and nobody can allow it. Default false. */
  deniesOutside?: boolean;
  home: string;
  agentDir: string;
  /** Credentials that environment variables lead to. Default: none. */
  named?: readonly NamedCredential[];
}

/** The standing of a path, and the rule that decided it. `asks`: a person has to allow it. */
export type RuledStanding =
  | { standing: "denied"; rule: "credential-file" | "own-settings" | "closed-outside" }
  | { standing: "allowed"; rule: "root" | "readable" }
  | { standing: "asks"; rule: "outside" | "agent-directory" | "protected" };

/**
 * The standing of a real path. Credentials come first, so that no root allows them. A path that is not normalised (with
 * `..`, for example) does not tell for certain where it leads, and is never allowed.
 */
export function pathStanding(realPath: string, access: "read" | "write", rules: PathRules): RuledStanding["standing"] {
  return ruledStanding(realPath, access, rules).standing;
}

export function ruledStanding(realPath: string, access: "read" | "write", rules: PathRules): RuledStanding {
  const ruled = openStanding(realPath, access, rules);
  if (!rules.deniesOutside || ruled.standing !== "asks") return ruled;
  // A question is left for what is protected in a root.
  const isInRoot = ruled.rule === "protected" && rules.roots.some((root) => isWithin(root, realPath));
  return isInRoot ? ruled : { standing: "denied", rule: "closed-outside" };
}

function openStanding(realPath: string, access: "read" | "write", rules: PathRules): RuledStanding {
  const path = resolve(realPath);
  if (isCredentialFile(path, rules)) return { standing: "denied", rule: "credential-file" };
  // They decide what tools may do.
  if (access === "write" && isOwnSettingsFile(path, rules)) return { standing: "denied", rule: "own-settings" };
  if (path !== realPath) return { standing: "asks", rule: "outside" };
  // Files that a model writes there could execute something in its next session.
  const worktrees = isWithin(rules.agentDir, path) ? findOwnWorktrees(path, rules) : undefined;
  if (access === "write" && worktrees?.length === 0) return { standing: "asks", rule: "agent-directory" };
  if (access === "write" && isProtectedPath(path, worktrees ? { ...rules, roots: worktrees } : rules))
    return { standing: "asks", rule: "protected" };
  if (rules.roots.some((root) => isWithin(root, path) && !isClosed(path, root, rules)))
    return { standing: "allowed", rule: "root" };
  const isReadable = access === "read" && rules.readable?.some((root) => isWithin(root, path));
  return isReadable ? { standing: "allowed", rule: "readable" } : { standing: "asks", rule: "outside" };
}

/** Finds the roots with this path that are worktrees of `tau --worktree`: these are no part of tau's own directory, though they lie there. */
const findOwnWorktrees = (path: string, { roots, agentDir }: PathRules): string[] =>
  roots.filter((root) => isOwnWorktree(root, agentDir) && isWithin(root, path));

const isClosed = (path: string, root: string, { closed = [] }: PathRules): boolean =>
  closed.some((directory) => isWithin(directory, path) && !isWithin(directory, root));

/** Rules that are normalised already: the guard and the policy of a session use the same ones. */
const resolved = new WeakSet<PathRules>();

/** Normalises the rules once. An empty or relative root would allow everything, so it is refused. */
export function resolvePathRules(rules: PathRules): Required<PathRules> {
  if (resolved.has(rules)) return rules as Required<PathRules>;
  const { roots, readable = [], closed = [], deniesOutside = false, home, agentDir, named = [] } = rules;
  for (const path of [...roots, ...readable, ...closed, home, agentDir]) {
    if (isAbsolute(path) && !path.includes("\0")) continue;
    throw new HarnessError(
      "invalid_input",
      `${JSON.stringify(path)} cannot be a directory of the policy. Give an absolute path.`,
    );
  }
  return remember({
    roots: roots.map((root) => resolve(root)),
    readable: readable.map((root) => resolve(root)),
    closed: closed.map((directory) => resolve(directory)),
    deniesOutside,
    home: resolve(home),
    agentDir: resolve(agentDir),
    named,
  });
}

function remember(rules: Required<PathRules>): Required<PathRules> {
  Object.freeze(rules.roots);
  Object.freeze(rules.readable);
  Object.freeze(rules.closed);
  resolved.add(Object.freeze(rules));
  return rules;
}

/** Creates rules whose roots are read each time, for a workspace that grows. `rules` are normalised. */
export function createLiveRules(rules: Required<PathRules>, getRoots: () => readonly string[]): Required<PathRules> {
  const { roots: _roots, ...others } = rules;
  const live = {
    ...others,
    get roots() {
      return getRoots();
    },
  };
  resolved.add(Object.freeze(live));
  return live;
}

/**
 * Resolves the directories to their real paths: people work below links, and on macOS the temporary directory is one. A path
 * that cannot be followed stays as it is: no opened file has a real path below it.
 */
export async function realPathRules(
  rules: PathRules,
  realPath: (path: string) => Promise<string>,
): Promise<Required<PathRules>> {
  const { roots, readable, closed, deniesOutside, home, agentDir, named } = resolvePathRules(rules);
  const real = (path: string) => realPath(path).catch(() => path);
  const all = (paths: readonly string[]) => Promise.all(paths.map(real));
  return remember({
    roots: await all(roots),
    readable: await all(readable),
    closed: await all(closed),
    deniesOutside,
    home: await real(home),
    agentDir: await real(agentDir),
    named,
  });
}
