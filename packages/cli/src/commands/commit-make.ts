/** Makes the commits of `tau commit`. */
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HarnessError } from "@tau/protocol";
import type { Io } from "./command.ts";
import { formatGitError, runPlainGit, type StagedChange, type StagedChanges } from "./commit-changes.ts";
import type { ProposedCommit } from "./commit-message.ts";

interface MakeOptions {
  staged: StagedChanges;
  /** Whether hooks, filters and signing run as the person has configured them. */
  isTrusted: boolean;
  io: Io;
}

const commitArgs = ["commit", "--quiet", "--cleanup=whitespace", "--file=-"];

/** Commits what is staged, with all that git does otherwise. */
export async function makeCommit(message: string, options: MakeOptions): Promise<void> {
  await commit(message, options);
  await report(options);
}

/**
 * Makes the commits one after the other from an index of their own, as `git commit --only` does: that of the person is not
 * touched, so that all that is not committed stays staged however this ends.
 */
export async function makeCommits(commits: readonly ProposedCommit[], options: MakeOptions): Promise<void> {
  const { staged, io } = options;
  const directory = await mkdtemp(join(tmpdir(), "tau-commit-"));
  const index = join(directory, "index");
  const change = async (args: readonly string[], input = "") => {
    const { code, stderr } = await runPlainGit(args, io, { cwd: staged.top, env: { GIT_INDEX_FILE: index }, input });
    if (code !== 0) throw new HarnessError("unavailable", `git ${args[0]} failed: ${formatGitError(stderr)}`);
  };
  let made = 0;
  try {
    await change(["read-tree", staged.head ?? "--empty"]);
    for (const { message, changes } of commits) {
      await change(["update-index", "-z", "--replace", "--index-info"], toIndexInfo(changes));
      await commit(message, options, index);
      made++;
      await report(options);
    }
  } catch (error) {
    if (made > 0) io.err(`tau: ${made} of ${commits.length} commits are made. The rest is still staged.\n`);
    throw error;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Deletions first: a directory may take the place of a file. Pure. */
export function toIndexInfo(changes: readonly StagedChange[]): string {
  const removed = changes.flatMap(({ status, path, oldPath, object }) => {
    const gone = status === "D" ? path : oldPath;
    return gone === undefined ? [] : [`0 ${"0".repeat(object.length)}\t${gone}\0`];
  });
  const kept = changes.filter(({ status }) => status !== "D");
  return [...removed, ...kept.map(({ mode, object, path }) => `${mode} ${object}\t${path}\0`)].join("");
}

async function commit(message: string, { staged, isTrusted, io }: MakeOptions, index?: string): Promise<void> {
  const variables = index === undefined ? {} : { GIT_INDEX_FILE: index };
  const input = `${message}\n`;
  if (isTrusted) return await commitAsPerson(input, { cwd: staged.top, variables, io });
  const { code, stderr, stdout } = await runPlainGit(commitArgs, io, { cwd: staged.top, env: variables, input });
  if (code !== 0) throw createFailure(stderr + stdout.toString("utf8"));
}

const createFailure = (said: string) => new HarnessError("unavailable", `git did not commit: ${formatGitError(said)}`);

interface PersonOptions {
  cwd: string;
  variables: Readonly<Record<string, string>>;
  io: Io;
}

/** Runs git as the person would, in their environment. What hooks say is shown as it comes. */
async function commitAsPerson(input: string, { cwd, variables, io }: PersonOptions): Promise<void> {
  // What was read is the repository of the directory, whatever these say.
  const { GIT_DIR: _dir, GIT_WORK_TREE: _tree, GIT_INDEX_FILE: _index, GIT_PREFIX: _prefix, ...env } = io.env;
  const status = await new Promise<number | string>((resolve, reject) => {
    const child = spawn("git", commitArgs, { cwd, env: { ...env, ...variables }, stdio: "pipe", signal: io.signal });
    child.stdout.setEncoding("utf8").on("data", io.err);
    child.stderr.setEncoding("utf8").on("data", io.err);
    child.once("error", reject).once("close", (code, signal) => resolve(code ?? signal ?? "an unknown status"));
    // It may end before it has read the message: its status says that.
    child.stdin.on("error", () => {}).end(input);
  }).catch((error: unknown) => {
    if (io.signal.aborted) throw new HarnessError("aborted", "Interrupted while git committed.");
    throw error;
  });
  if (status !== 0) throw createFailure(`it ended with ${status}. What it or a hook said is above.`);
}

async function report({ staged, io }: MakeOptions): Promise<void> {
  const args = ["log", "-1", "--no-color", "--format=%h %s"];
  const { stdout } = await runPlainGit(args, io, { cwd: staged.top });
  io.err(`Committed ${stdout.toString("utf8")}`);
}
