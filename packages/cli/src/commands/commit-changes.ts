/** Reads what is staged in a repository, for `tau commit`. Nothing that the repository configures is run. */
import { hostPrograms, type GitOptions, type GitResult, runGit } from "@tau/features/agents";
import { HarnessError } from "@tau/protocol";
import { UsageError } from "../process/errors.ts";
import type { Io } from "./command.ts";

/** A staged change. A renamed file is one change with two entries. */
export interface StagedChange {
  /** The letter of git: A, M, D, R, T. */
  readonly status: string;
  readonly path: string;
  /** The path before it was renamed. */
  readonly oldPath?: string;
  /** The mode that the index has; `object` is its content. */
  readonly mode: string;
  readonly object: string;
}

export interface StagedChanges {
  /** The top directory of the work tree. */
  readonly top: string;
  /** The commit that is checked out; undefined before the first one. */
  readonly head: string | undefined;
  readonly changes: readonly StagedChange[];
  /** The answer of git, to see later whether something else is staged. */
  readonly raw: string;
  /** An operation of git that ends with the next commit. */
  readonly operation: "merge" | "cherry-pick" | undefined;
}

/** Variables of the person that say who commits, and where their settings are. */
const passed =
  /^(?:GIT_(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL|DATE)|GIT_CONFIG_(?:GLOBAL|SYSTEM|NOSYSTEM)|XDG_CONFIG_HOME|HOME|PATH)$/;

/** Runs git without anything that the repository configures. Its messages are English, because some are looked for. */
export async function runPlainGit(
  args: readonly string[],
  { env, signal }: Io,
  options: Pick<GitOptions, "cwd" | "env" | "input" | "config">,
): Promise<GitResult> {
  const own = Object.entries(env).filter(
    (entry): entry is [string, string] => passed.test(entry[0]) && entry[1] !== undefined,
  );
  const variables = { ...Object.fromEntries(own), LC_ALL: "C", GIT_LITERAL_PATHSPECS: "1", ...options.env };
  const result = await runGit(hostPrograms, args, { ...options, env: variables, signal });
  if (signal.aborted) throw new HarnessError("aborted", "Interrupted. Nothing more was committed.");
  return result;
}

async function mustRun(args: readonly string[], io: Io, options: Parameters<typeof runPlainGit>[2]): Promise<string> {
  const { code, stdout, stderr } = await runPlainGit(args, io, options);
  if (code === 0) return stdout.toString("utf8");
  throw new HarnessError("unavailable", `git ${args[0]} failed in ${options.cwd}: ${formatGitError(stderr)}`);
}

export const formatGitError = (stderr: string): string => stderr.trim().slice(0, 2_000) || "it gave no reason.";

/** Throws `UsageError` unless there is something to commit. */
export async function readStaged(io: Io): Promise<StagedChanges> {
  const found = await runPlainGit(["rev-parse", "--show-toplevel"], io, { cwd: io.cwd });
  if (found.code !== 0) {
    const isNone = found.stderr.includes("not a git repository");
    throw new UsageError(
      "not_found",
      isNone
        ? `${io.cwd} is not in a git repository. Go to one, or make one: git init`
        : `git cannot be used in ${io.cwd}: ${formatGitError(found.stderr)}`,
    );
  }
  const top = found.stdout.toString("utf8").replace(/\n$/, "");
  const staged = { top, ...(await readIndex(top, io)) };
  const conflicts = staged.changes.filter(({ status }) => status === "U").map(({ path }) => path);
  if (conflicts.length > 0) {
    const names = conflicts.slice(0, 5).join(", ");
    throw new UsageError("invalid_input", `There are conflicts in ${names}. Resolve them, then git add these files.`);
  }
  if (staged.changes.length === 0) {
    throw new UsageError("not_found", "Nothing is staged. Stage what to commit first: git add FILE, or git add --all");
  }
  return staged;
}

async function readIndex(cwd: string, io: Io): Promise<Omit<StagedChanges, "top">> {
  const resolve = async (name: string) => {
    const { code, stdout } = await runPlainGit(["rev-parse", "--quiet", "--verify", name], io, { cwd });
    return code === 0 ? stdout.toString("utf8").trim() : undefined;
  };
  const head = await resolve("HEAD^{commit}");
  const isMerge = (await resolve("MERGE_HEAD")) !== undefined;
  const isPick = (await resolve("CHERRY_PICK_HEAD")) !== undefined;
  const args = ["diff", "--cached", "--raw", "-z", "--no-abbrev", "-M", "--no-relative", "--ignore-submodules=none"];
  const raw = await mustRun(args, io, { cwd });
  return { head, raw, changes: parseRaw(raw), operation: isMerge ? "merge" : isPick ? "cherry-pick" : undefined };
}

/** Throws if something else is staged or checked out than before. */
export async function mustBeUnchanged({ top, head, raw }: StagedChanges, io: Io): Promise<void> {
  const now = await readIndex(top, io);
  if (now.head === head && now.raw === raw) return;
  throw new HarnessError(
    "unavailable",
    "Something else is staged by now, so nothing was committed. Run tau commit again.",
  );
}

/** Parses the answer of `git diff --raw -z`. Pure. */
export function parseRaw(raw: string): StagedChange[] {
  const fields = raw.split("\0");
  const changes: StagedChange[] = [];
  for (let at = 0; at < fields.length && fields[at]!.startsWith(":");) {
    const [, mode = "", , object = "", letters = ""] = fields[at++]!.split(" ");
    const status = letters.slice(0, 1);
    const isRenamed = status === "R";
    const oldPath = isRenamed ? { oldPath: fields[at++]! } : {};
    changes.push({ status, mode, object, ...oldPath, path: fields[at++]! });
  }
  return changes;
}

const maxFiles = 200;
/** Larger files are binary ones for git: only their names are shown. */
const maxFileBytes = "256k";

/** The differences of each staged file, as far as there are not too many files. Binary files are only named. */
export async function readDiffs({ top, changes }: StagedChanges, io: Io): Promise<string[]> {
  const paths = changes
    .slice(0, maxFiles)
    .flatMap(({ path, oldPath }) => [path, ...(oldPath === undefined ? [] : [oldPath])]);
  const args = [
    "diff",
    "--cached",
    "-M",
    "--no-color",
    "--no-relative",
    "--submodule=short",
    "--src-prefix=a/",
    "--dst-prefix=b/",
  ];
  const config = [["core.bigFileThreshold", maxFileBytes]] as const;
  const text = await mustRun([...args, "--", ...paths], io, { cwd: top, config });
  // Lines of files begin with a blank, a plus or a minus.
  return text.split(/^(?=diff --git )/m).filter((part) => part !== "");
}

/** The last messages on this branch, the newest first. */
export async function readMessages({ top, head }: StagedChanges, io: Io): Promise<string[]> {
  if (head === undefined) return [];
  const log = await mustRun(["log", "-20", "--no-merges", "--no-color", "--format=%B%x00", head], io, { cwd: top });
  return log
    .split("\0")
    .map((message) => message.trim())
    .filter((message) => message !== "");
}
