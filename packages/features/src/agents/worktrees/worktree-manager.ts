/** Ordinary worktrees of a repository, one for each piece of work. */
import { lstat, realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { systemClock, systemIds } from "@tau/ai";
import { HarnessError } from "@tau/protocol";
import { unlessMissing } from "@tau/tools/platform";
import { getFanoutDirectory, makeFanoutDirectory } from "./directory.ts";
import { checkoutConfig, git, gitLine, tryGit } from "./git.ts";
import { findIdInBranch, toBranch, toSafeId } from "./names.ts";
import { claimRecord, type HeldRecord, holdRecord, readRecord, type WorktreeRecord } from "./records.ts";
import { removeTree } from "./remove.ts";

export interface WorktreeManagerOptions {
  /** A directory of the repository. */
  repoPath: string;
  /** The branch or commit that worktrees begin with. Default: what is checked out. */
  baseBranch?: string;
  /** Where worktrees are, unless `PI_FANOUT_DIR` says so. Default: `pi-fanout` in the temporary directory. */
  directory?: string;
}

/** A worktree. It is removed with its branch when it is disposed of, unless it is kept. */
export interface WorktreeHandle extends AsyncDisposable {
  readonly id: string;
  readonly path: string;
  readonly branch: string;
  /** Lets the worktree and its branch stay when this is disposed of. */
  keep(): void;
  dispose(): Promise<void>;
}

export class WorktreeManager {
  readonly #options: WorktreeManagerOptions;

  constructor(options: WorktreeManagerOptions) {
    this.#options = options;
  }

  /** Makes a worktree with a branch of its own. The same id may be used several times. */
  async create(id: string): Promise<WorktreeHandle> {
    const { baseBranch = "HEAD" } = this.#options;
    const top = await this.#findTop();
    const base = await gitLine(["rev-parse", "--verify", "--end-of-options", `${baseBranch}^{commit}`], { cwd: top });
    const record = await this.#claim(id, top, base);
    const { path, branch } = record.value;
    try {
      const add = ["worktree", "add", "--quiet", "--no-track", "-b", branch, path, base];
      await git(add, { cwd: top, config: checkoutConfig });
      await record.change({ state: "open" });
    } catch (error) {
      await removeWorktree(record);
      throw error;
    }
    let isKept = false;
    let end: Promise<void> | undefined;
    const dispose = () => (end ??= isKept ? keepWorktree(record) : removeWorktree(record));
    return {
      id,
      path,
      branch,
      keep: () => void (isKept = true),
      dispose,
      [Symbol.asyncDispose]: dispose,
    };
  }

  /**
   * Lists the worktrees that were made by managers of this repository and are still there. One without a record has the id that
   * its branch names.
   */
  async list(): Promise<Pick<WorktreeHandle, "id" | "path" | "branch">[]> {
    const blocks = (await git(["worktree", "list", "--porcelain", "-z"], { cwd: await this.#findTop() }))
      .toString("utf8")
      .split("\0\0");
    const worktrees = blocks.map(async (block) => {
      const lines = block.split("\0");
      const get = (key: string) => lines.find((line) => line.startsWith(`${key} `))?.slice(key.length + 1);
      const [path, branch] = [get("worktree"), get("branch")?.replace("refs/heads/", "")];
      const safeId = branch === undefined ? undefined : findIdInBranch(branch);
      if (path === undefined || branch === undefined || safeId === undefined) return [];
      const record = await readRecord(dirname(path), basename(path));
      return [{ id: record?.branch === branch ? record.id : safeId, path, branch }];
    });
    return (await Promise.all(worktrees)).flat();
  }

  /** Removes all worktrees of this id with their branches, also those with changes. False if there is none. */
  async remove(id: string): Promise<boolean> {
    const matching = (await this.list()).filter((worktree) => worktree.id === id);
    const top = await this.#findTop();
    for (const { path, branch } of matching) {
      await removeFiles({ repository: top, path, branch });
      const record = await holdRecord(dirname(path), basename(path));
      if (record !== undefined && record !== "busy") await record.remove();
    }
    return matching.length > 0;
  }

  async #claim(id: string, top: string, base: string): Promise<HeldRecord> {
    const directory = await realpath(await makeFanoutDirectory(getFanoutDirectory(this.#options.directory)));
    const unique = systemIds();
    const safe = toSafeId(id);
    for (const name of [safe, `${safe}-${unique}`]) {
      const path = join(directory, name);
      const record = await claimRecord(
        directory,
        {
          kind: "worktree",
          name,
          id,
          repository: top,
          path,
          branch: toBranch(id, unique),
          base,
          createdAt: new Date(systemClock.now()).toISOString(),
          state: "making",
        },
        async () => !(await unlessMissing(lstat(path))),
      );
      if (record) return record;
    }
    throw new HarnessError("invalid_input", `There is no free name for a worktree of ${id} in ${directory}.`);
  }

  async #findTop(): Promise<string> {
    const { repoPath } = this.#options;
    const { code, stdout } = await tryGit(["rev-parse", "--show-toplevel"], { cwd: repoPath });
    if (code === 0) return stdout.toString("utf8").replace(/\n$/, "");
    throw new HarnessError("invalid_input", `${repoPath} is not in a git repository.`);
  }
}

async function keepWorktree(record: HeldRecord): Promise<void> {
  await record.change({ state: "kept" });
  await record.release();
}

/** Removes the worktree, its branch and its record. `onlyAtBase`: a branch with other commits stays. */
export async function removeWorktree(record: HeldRecord, { onlyAtBase = false } = {}): Promise<void> {
  await removeFiles(record.value, onlyAtBase ? [record.value.base] : []);
  await record.remove();
}

/** Removes a worktree without changes, as `removeWorktree` does. False if git finds some after all: then nothing was done. */
export async function removeUnchanged(record: HeldRecord): Promise<boolean> {
  const { repository, path } = record.value;
  if ((await tryGit(["worktree", "remove", path], { cwd: repository })).code !== 0) return false;
  await removeWorktree(record, { onlyAtBase: true });
  return true;
}

type WorktreePlace = Pick<WorktreeRecord, "repository" | "path" | "branch">;

async function removeFiles({ repository, path, branch }: WorktreePlace, expected: readonly string[] = []) {
  const isThere = (await unlessMissing(lstat(repository))) !== undefined;
  if (isThere) await tryGit(["worktree", "remove", "--force", "--force", path], { cwd: repository });
  await removeTree(path);
  if (!isThere) return;
  // Not `git branch -D`, which fails while another process changes the configuration.
  await tryGit(["update-ref", "-d", `refs/heads/${branch}`, ...expected], { cwd: repository });
}
