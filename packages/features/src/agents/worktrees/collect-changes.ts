/** Brings the changes of an isolated task into the repository as a branch. The host does this after the task has ended. */
import { copyFile, lstat, rm, utimes } from "node:fs/promises";
import { join } from "node:path";
import { HarnessError } from "@tau/protocol";
import { unlessMissing } from "@tau/tools/platform";
import { git, gitLine, readConfig, type Repository, splitNul, toIdentity, tryGit } from "./git.ts";
import { initRepository, writeAlternates } from "./make-isolated.ts";
import { readHead } from "./read-head.ts";
import type { WorktreeRecord } from "./records.ts";
import { removeTree } from "./remove.ts";

export interface CollectedChanges {
  /** The commit with all changes. */
  tip: string;
  /** The changed files, relative to the top of the repository. */
  files: string[];
}

/**
 * Resolves with undefined if no file differs. Otherwise the objects are in the repository, and the branch is set. Files that git
 * ignores are not part of the changes, and neither are repositories inside. `scratch` is a path for a directory that must not exist.
 */
export async function collectChanges(
  repository: Repository,
  record: WorktreeRecord,
  scratch: string,
): Promise<CollectedChanges | undefined> {
  await removeTree(scratch);
  try {
    const task = await openTaskFiles(repository, record, scratch);
    const tree = await writeTree(record, task);
    if (tree === (await gitLine(["rev-parse", "--verify", `${record.base}^{tree}`], task))) return undefined;
    const tip = await commit(tree, record, task);
    await bringOver(repository, { tip, base: record.base, task });
    await git(["update-ref", `refs/heads/${record.branch}`, tip], { cwd: repository.top });
    return { tip, files: await listFiles(repository.top, record.base, tip) };
  } finally {
    await removeTree(scratch);
  }
}

/** Lists the files that differ between two commits. */
const listFiles = async (top: string, base: string, tip: string): Promise<string[]> =>
  splitNul(await git(["diff-tree", "-r", "--no-renames", "--name-only", "-z", base, tip], { cwd: top }));

/** Git with the files and objects of a task. */
interface TaskFiles {
  cwd: string;
  index: string;
  env: Record<string, string>;
}

/**
 * Uses a repository of the host's own for it: the one of the task may have any settings, and say that its files are elsewhere. Of
 * that one only the objects, the index and the commit that is checked out are used.
 */
async function openTaskFiles(repository: Repository, { path }: WorktreeRecord, scratch: string): Promise<TaskFiles> {
  const own = join(path, ".git");
  const objects = join(own, "objects");
  for (const directory of [path, own, objects, join(objects, "info")]) {
    const stats = await unlessMissing(lstat(directory));
    if (stats?.isDirectory()) continue;
    throw new HarnessError("invalid_input", `${directory} is missing or was replaced, so its changes cannot be read.`);
  }
  await rm(join(objects, "info/alternates"), { recursive: true, force: true });
  await writeAlternates(own, repository);
  await initRepository(repository, scratch);
  const index = join(scratch, "index");
  return {
    cwd: path,
    index,
    env: {
      GIT_DIR: join(scratch, ".git"),
      GIT_WORK_TREE: path,
      GIT_OBJECT_DIRECTORY: objects,
      GIT_INDEX_FILE: index,
      ...toIdentity(await readConfig(repository.top)),
    },
  };
}

/** Writes a tree of the files as they are. Begins with the index of the task, which knows the files that have not changed. */
async function writeTree({ path, base }: WorktreeRecord, task: TaskFiles): Promise<string> {
  const add = async () => {
    // A file that cannot be read is left out.
    await tryGit(["add", "--all", "--ignore-errors"], task);
    await leaveOutRepositories(base, task);
    return await gitLine(["write-tree"], task);
  };
  const source = join(path, ".git/index");
  const stats = await unlessMissing(lstat(source));
  if (stats?.isFile()) {
    await copyFile(source, task.index);
    // Git looks into files that are as new as the index. With the time of the copy, a change right after it would be missed.
    const seconds = Math.floor(stats.mtimeMs / 1_000);
    await utimes(task.index, seconds, seconds);
    const tree = await add().catch(() => undefined);
    if (tree !== undefined) return tree;
    await rm(task.index, { force: true });
  }
  await git(["read-tree", base], task);
  return await add();
}

/** A repository inside is a single entry without its files, which nobody else could use. */
async function leaveOutRepositories(base: string, task: TaskFiles): Promise<void> {
  const raw = splitNul(await git(["diff-index", "--cached", "--raw", "--no-renames", "--no-abbrev", "-z", base], task));
  const lines: string[] = [];
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const [oldMode = "", newMode, oldName = ""] = raw[index]!.slice(1).split(" ");
    if (newMode === "160000") lines.push(`${Number(oldMode) === 0 ? "0" : oldMode} ${oldName}\t${raw[index + 1]}\0`);
  }
  if (lines.length > 0) await git(["update-index", "-z", "--index-info"], { ...task, input: lines.join("") });
}

/** Keeps the commits of the task if they continue what it began with. Changes after them become a commit. */
async function commit(tree: string, record: WorktreeRecord, task: TaskFiles): Promise<string> {
  const head = await readHead(join(record.path, ".git"));
  const continues =
    head !== undefined && (await tryGit(["merge-base", "--is-ancestor", record.base, head], task)).code === 0;
  const parent = continues ? head : record.base;
  if ((await gitLine(["rev-parse", "--verify", `${parent}^{tree}`], task)) === tree) return parent;
  const message = (record.description?.trim() || `Changes of ${record.id}`).replaceAll("\0", "");
  return await gitLine(["commit-tree", tree, "-p", parent, "-F", "-"], { ...task, input: message });
}

/** Copies the objects that the repository does not have. They are checked, because a task can write any bytes. */
async function bringOver(
  { top, head }: Repository,
  { tip, base, task }: { tip: string; base: string; task: TaskFiles },
): Promise<void> {
  // A base with uncommitted work is known to the task alone.
  const isBaseKnown = (await tryGit(["cat-file", "-e", base], { cwd: top })).code === 0;
  const known = [head, ...(isBaseKnown ? [base] : [])];
  const pack = await git(["pack-objects", "--revs", "--stdout", "--quiet", "--delta-base-offset"], {
    ...task,
    input: [tip, ...known.map((name) => `^${name}`), ""].join("\n"),
  });
  await git(["index-pack", "--stdin", "--strict"], { cwd: top, input: pack });
  await git(["rev-list", "--objects", "--quiet", tip, "--not", ...known], { cwd: top });
}
