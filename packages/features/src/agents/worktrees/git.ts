/** Git for the host: nothing that a repository configures is run. */
import { realpath } from "node:fs/promises";
import { join, resolve } from "node:path";
import { HarnessError } from "@tau/protocol";
import { hostPrograms } from "../../kit/host-programs.ts";
import { type GitOptions, type GitResult, runGit } from "../../kit/run-git.ts";

/** Runs git whatever it answers. */
export const tryGit = (args: readonly string[], options: GitOptions): Promise<GitResult> =>
  runGit(hostPrograms, args, options);

/** Throws with the words of git if it fails. */
export async function git(args: readonly string[], options: GitOptions): Promise<Buffer> {
  const { code, stdout, stderr } = await tryGit(args, options);
  if (code === 0) return stdout;
  const said = stderr.trim().slice(0, 2_000) || `exit code ${code}`;
  throw new HarnessError("invalid_input", `git ${args[0]} failed in ${options.cwd}: ${said}`);
}

/** The first line of the answer. */
export const gitLine = async (args: readonly string[], options: GitOptions): Promise<string> =>
  (await git(args, options)).toString("utf8").trim();

/** Splits an answer of git with `-z`. */
export const splitNul = (bytes: Buffer): string[] => bytes.toString("utf8").split("\0").filter(Boolean);

export interface Repository {
  /** The top directory of its files: a real path. */
  readonly top: string;
  /** The directory below it that was asked about; empty, or with a slash at the end. */
  readonly prefix: string;
  /** The directory that all worktrees of the repository share. */
  readonly common: string;
  /** The commit that is checked out. */
  readonly head: string;
  readonly objectFormat: string;
}

/** Undefined unless the directory is in a work tree of a repository that has a commit. */
export async function findRepository(cwd: string, signal?: AbortSignal): Promise<Repository | undefined> {
  const args = ["rev-parse", "--show-toplevel", "--git-common-dir", "--show-object-format", "--show-prefix"];
  const { code, stdout } = await tryGit([...args, "--verify", "--end-of-options", "HEAD^{commit}"], { cwd, signal });
  const lines = stdout.toString("utf8").split("\n");
  // A path with a line break would be two lines.
  if (code !== 0 || lines.length !== 6) return undefined;
  const [top, common, objectFormat, prefix, head] = lines as [string, string, string, string, string];
  if (!isObjectName(head)) return undefined;
  return { top: await realpath(top), common: await realpath(resolve(cwd, common)), objectFormat, prefix, head };
}

export const isObjectName = (text: string): boolean => /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text);

export const getObjects = ({ common }: Repository): string => join(common, "objects");

/** Checks files out with several processes: a single one takes seconds for tens of thousands of files. */
export const checkoutConfig: NonNullable<GitOptions["config"]> = [
  ["checkout.workers", "4"],
  ["advice.detachedHead", "false"],
];

/** The settings that apply in a directory; of one that is repeated, the last. */
export async function readConfig(cwd: string): Promise<Map<string, string>> {
  const { stdout } = await tryGit(["config", "--null", "--list"], { cwd });
  const entries = stdout.toString("utf8").split("\0");
  return new Map(
    entries.flatMap((entry) => {
      const end = entry.indexOf("\n");
      return end < 0 ? [] : [[entry.slice(0, end), entry.slice(end + 1)] as const];
    }),
  );
}

/** Names the author of commits that the host makes, also if the user has not said who they are. */
export function toIdentity(config: ReadonlyMap<string, string>) {
  const [name, email] = [config.get("user.name") || "tau", config.get("user.email") || "tau@localhost"];
  return { GIT_AUTHOR_NAME: name, GIT_AUTHOR_EMAIL: email, GIT_COMMITTER_NAME: name, GIT_COMMITTER_EMAIL: email };
}
