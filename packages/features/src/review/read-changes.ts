/** Reads the changes to review from git, as far as they are below the directory of the session. */
import { runGit, type Spawner } from "../kit/run-git.ts";
import { isName, type ReviewTarget } from "./review-target.ts";

export interface ReviewedChanges {
  readonly kind: "changes";
  readonly diff: string;
  readonly files: readonly string[];
  /** Files that git does not know yet. They are in no diff. */
  readonly newFiles: readonly string[];
  /** Whether the files on the disk are those after the change. */
  readonly isCurrent: boolean;
}

type ReadChanges = ReviewedChanges | { readonly kind: "none" } | { readonly kind: "refused"; readonly reason: string };

interface ReadOptions {
  readonly cwd: string;
  readonly signal?: AbortSignal | undefined;
}

/** The tree of a repository without a commit. */
const emptyTree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

const diffFlags = ["--no-color", "--relative", "--find-renames", "--src-prefix=a/", "--dst-prefix=b/"];

export async function readChanges(tau: Spawner, target: ReviewTarget, options: ReadOptions): Promise<ReadChanges> {
  const git = async (...args: string[]) =>
    await runGit(tau, args, { ...options, config: [["core.quotePath", "false"]] });
  const inside = await git("rev-parse", "--is-inside-work-tree");
  if (inside.code !== 0)
    return refuse("Only changes in a git repository can be reviewed, and this directory is in none.");
  const range = await findRange(git, target);
  if (range.kind === "refused") return range;
  const command = range.kind === "commit" ? ["show", "--format=", "-m", "--first-parent"] : ["diff"];
  const [diff, names] = [
    await git(...command, ...diffFlags, range.revision),
    await git(...command, ...diffFlags, "--name-only", "-z", range.revision),
  ];
  if (diff.code !== 0 || names.code !== 0) return refuse(`git failed: ${(diff.stderr || names.stderr).trim()}`);
  const isCurrent = range.kind === "disk";
  const others = isCurrent ? await git("ls-files", "--others", "--exclude-standard", "-z") : undefined;
  const files = splitNul(names.stdout);
  const newFiles = others ? splitNul(others.stdout) : [];
  if (files.length === 0 && newFiles.length === 0) return { kind: "none" };
  return { kind: "changes", diff: diff.stdout.toString("utf8"), files, newFiles, isCurrent };
}

type Git = (...args: string[]) => ReturnType<typeof runGit>;

type Range =
  /** From a revision to the files on the disk. */
  | { readonly kind: "disk"; readonly revision: string }
  | { readonly kind: "commit"; readonly revision: string }
  | { readonly kind: "refused"; readonly reason: string };

async function findRange(git: Git, target: ReviewTarget): Promise<Range> {
  const head = await findCommit(git, "HEAD");
  if (target.kind === "uncommitted") return { kind: "disk", revision: head ?? emptyTree };
  const commit = await findCommit(git, target.name);
  if (commit === undefined) return refuse(`There is no branch or commit ${JSON.stringify(target.name)} here.`);
  if (target.kind === "commit") return { kind: "commit", revision: commit };
  const base = await git("merge-base", commit, head ?? commit);
  if (base.code !== 0) return refuse(`This branch and ${target.name} have no commit in common.`);
  return { kind: "disk", revision: base.stdout.toString("utf8").trim() };
}

/** Finds the id of a commit by any name of it. */
async function findCommit(git: Git, name: string): Promise<string | undefined> {
  if (!isName(name)) return undefined;
  const { code, stdout } = await git("rev-parse", "--verify", "--quiet", "--end-of-options", `${name}^{commit}`);
  // With `--end-of-options`, some versions of git print that too.
  return code === 0 ? stdout.toString("utf8").trim().split("\n").at(-1) : undefined;
}

/** Finds out whether a word is a branch, a commit or neither. */
export async function findTarget(tau: Spawner, word: string, options: ReadOptions): Promise<ReviewTarget | undefined> {
  const git: Git = async (...args) => await runGit(tau, args, options);
  if ((await findCommit(git, word)) === undefined) return undefined;
  const { stdout } = await git("for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/remotes");
  const isBranch = stdout.toString("utf8").split("\n").includes(word);
  return { kind: isBranch ? "base" : "commit", name: word };
}

const refuse = (reason: string) => ({ kind: "refused" as const, reason });

const splitNul = (bytes: Buffer): string[] => bytes.toString("utf8").split("\0").filter(Boolean);
