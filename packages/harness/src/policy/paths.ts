/** How a path stands: what both the policy and the guard of opened files go by. Pure. */
import { isAbsolute, resolve } from "node:path";
import { isWithin } from "@tau/tools/platform";
import { HarnessError } from "../errors.ts";
import { isCredentialFile } from "./credential-files.ts";

/** All are real paths: where a root is a link, what it leads to. */
export interface PathRules {
  /** Where everything but credentials may be read and written: the workspace, added directories, temporary files. */
  roots: readonly string[];
  /** Where reading needs no question besides: skills and other resources. Default: nowhere. */
  readable?: readonly string[];
  home: string;
  agentDir: string;
}

/** `asks`: a person has to say yes. */
export type Standing = "allowed" | "asks" | "denied";

/** How a path stands, and the rule that says so. */
export type RuledStanding =
  | { standing: "denied"; rule: "credential-file" }
  | { standing: "allowed"; rule: "root" | "readable" }
  | { standing: "asks"; rule: "outside" | "agent-directory" };

/**
 * How a real path stands. Credentials come first, so that no root makes up for them. A path that is not written out (with
 * `..`, say) tells nothing certain about where it leads, and is never allowed.
 */
export function pathStanding(realPath: string, access: "read" | "write", rules: PathRules): Standing {
  return ruledStanding(realPath, access, rules).standing;
}

export function ruledStanding(realPath: string, access: "read" | "write", rules: PathRules): RuledStanding {
  const path = resolve(realPath);
  if (isCredentialFile(path, rules)) return { standing: "denied", rule: "credential-file" };
  if (path !== realPath) return { standing: "asks", rule: "outside" };
  // What a model writes there could execute something in its next session.
  if (access === "write" && isWithin(rules.agentDir, path)) return { standing: "asks", rule: "agent-directory" };
  if (rules.roots.some((root) => isWithin(root, path))) return { standing: "allowed", rule: "root" };
  const isReadable = access === "read" && rules.readable?.some((root) => isWithin(root, path));
  return isReadable ? { standing: "allowed", rule: "readable" } : { standing: "asks", rule: "outside" };
}

/** Rules that are written out already: the guard and the policy of a session go by the same ones. */
const writtenOut = new WeakSet<PathRules>();

/** Written out once. An empty or relative root would let everything in, so it is refused. */
export function resolvePathRules(rules: PathRules): Required<PathRules> {
  if (writtenOut.has(rules)) return rules as Required<PathRules>;
  const { roots, readable = [], home, agentDir } = rules;
  for (const path of [...roots, ...readable, home, agentDir]) {
    if (isAbsolute(path) && !path.includes("\0")) continue;
    throw new HarnessError(
      "invalid_input",
      `${JSON.stringify(path)} cannot be a directory of the policy. Give an absolute path.`,
    );
  }
  return remember({
    roots: roots.map((root) => resolve(root)),
    readable: readable.map((root) => resolve(root)),
    home: resolve(home),
    agentDir: resolve(agentDir),
  });
}

function remember(rules: Required<PathRules>): Required<PathRules> {
  Object.freeze(rules.roots);
  Object.freeze(rules.readable);
  writtenOut.add(Object.freeze(rules));
  return rules;
}

/**
 * The same directories by the paths that they really have: people work below links, and on macOS the temporary directory
 * is one. What cannot be followed stays as it was given: nothing that is opened has a path below it.
 */
export async function realPathRules(
  rules: PathRules,
  realPath: (path: string) => Promise<string>,
): Promise<Required<PathRules>> {
  const { roots, readable, home, agentDir } = resolvePathRules(rules);
  const real = (path: string) => realPath(path).catch(() => path);
  const all = (paths: readonly string[]) => Promise.all(paths.map(real));
  return remember({
    roots: await all(roots),
    readable: await all(readable),
    home: await real(home),
    agentDir: await real(agentDir),
  });
}
