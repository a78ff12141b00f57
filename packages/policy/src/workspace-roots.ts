/** The directories that the tools of a session work in: those it began with, and those that a person adds while it is open. */
import { dirname, join } from "node:path";
import { isWithin } from "@tau/tools/platform";
import { isCredentialFile, mayHoldCredentials } from "@tau/sandbox/internal";
import { isOwnWorktree } from "./own-worktree.ts";
import { createLiveRules, type PathRules } from "./paths.ts";

/** Whether a directory can be added to a workspace. `known`: it belongs to it already, because of `root`. */
type DirectoryDecision = { kind: "added" } | { kind: "known"; root: string } | { kind: "refused"; reason: string };

/**
 * The only owner of the roots of a session. Its rules are read for each call, so that a directory that was added is open to the
 * next one. Roots are real paths: when a directory is replaced by a link later, what the link leads to is in no root.
 */
export class WorkspaceRoots {
  /** For the policy, the guard and whoever looks for text of strangers. `roots` changes with `add`. */
  readonly rules: Required<PathRules>;
  readonly #own: readonly string[];
  #added: readonly string[];

  /** The first two roots of `rules` are the working directory and the temporary files; those that follow were added. */
  constructor(rules: Required<PathRules>) {
    this.#own = rules.roots.slice(0, 2);
    this.#added = [...new Set(rules.roots.slice(2))];
    this.rules = createLiveRules(rules, () => [...this.#own, ...this.#added]);
  }

  /** The directories besides the working directory. Real paths, in the order in which they were added. */
  get added(): readonly string[] {
    return this.#added;
  }

  /** `directory` is a real path. It is not looked at. */
  decide(directory: string): DirectoryDecision {
    const reason = findRefusal(directory, this.rules);
    if (reason !== undefined) return { kind: "refused", reason };
    const root = [this.#own[0]!, ...this.#added].find((each) => isWithin(each, directory));
    return root === undefined ? { kind: "added" } : { kind: "known", root };
  }

  /** Call it only after `decide`. */
  add(directory: string): void {
    this.#added = [...this.#added, directory];
  }
}

/** Directories of the kernel, where files are not data but processes and devices. */
const kernelDirectories = ["/proc", "/sys", "/dev"];
/** It has files in memory. */
const sharedMemory = "/dev/shm";

/** Why a directory is never part of a workspace. Pure. */
function findRefusal(directory: string, rules: Pick<PathRules, "home" | "agentDir" | "named">): string | undefined {
  const { home, agentDir } = rules;
  const refuse = (why: string) => `${directory} cannot be added to the workspace: ${why}`;
  if (dirname(directory) === directory)
    return refuse("it contains everything on this machine. Add the directory that is needed.");
  if (isWithin(directory, home)) {
    const what = directory === home ? "it is your home directory" : "it contains your home directory";
    return refuse(`${what}, with your settings and logins. Add the directory in it that is needed.`);
  }
  if (isWithin(directory, agentDir) || (isWithin(agentDir, directory) && !isOwnWorktree(directory, agentDir)))
    return refuse("tau's own settings, keys and sessions are there.");
  // Of `.ssh` each file is one, but for a few.
  if (isCredentialFile(directory, rules) || isCredentialFile(join(directory, "key"), rules))
    return refuse("credentials are kept there.");
  if (mayHoldCredentials(directory, rules))
    return refuse("programs keep logins in it. Add the directory in it that is needed.");
  if (!isWithin(sharedMemory, directory) && kernelDirectories.some((each) => isWithin(each, directory)))
    return refuse("it shows processes and devices, and no files.");
  return undefined;
}
