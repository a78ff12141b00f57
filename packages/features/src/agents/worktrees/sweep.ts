/** Cleans up after processes that were killed while tasks worked in directories of their own. */
import { readdir } from "node:fs/promises";
import { getErrorMessage } from "@tau/ai/internal";
import { tolerate } from "@tau/tools/platform";
import { listFanoutDirectories } from "./directory.ts";
import { tryGit } from "./git.ts";
import { collectRecord, discardIsolated } from "./isolated.ts";
import { type HeldRecord, holdRecord, listRecords, removeLeftovers, type WorktreeRecord } from "./records.ts";
import { removeWorktree } from "./worktree-manager.ts";

export interface Sweep {
  /** The names of worktrees without changes, which are gone now. */
  removed: string[];
  /** Worktrees with changes whose process was killed. */
  kept: WorktreeRecord[];
  problems: string[];
}

/** Leaves alone what a running process works with. */
export async function sweepWorktrees(fanoutDirectory: string): Promise<Sweep> {
  const sweep: Sweep = { removed: [], kept: [], problems: [] };
  for (const directory of listFanoutDirectories(fanoutDirectory)) {
    for (const { name } of await listRecords(directory)) {
      const record = await holdRecord(directory, name);
      if (record === undefined || record === "busy") continue;
      try {
        await sweepRecord(record, directory, sweep);
      } catch (error) {
        sweep.problems.push(`${name}: ${getErrorMessage(error)}`);
      } finally {
        await record.release();
      }
    }
    await removeLeftovers(directory);
  }
  return sweep;
}

async function sweepRecord(record: HeldRecord, directory: string, sweep: Sweep): Promise<void> {
  const { name, state, kind } = record.value;
  if (state === "kept") return;
  const changed = state === "making" ? undefined : await findChanged(record, directory);
  if (changed) {
    await record.change({ state: "kept", files: changed });
    sweep.kept.push(record.value);
    return;
  }
  if (kind === "isolated") await discardIsolated(record, directory);
  else await removeWorktree(record);
  sweep.removed.push(name);
}

/** The changed files; undefined if nothing of value is there. */
async function findChanged(record: HeldRecord, directory: string): Promise<string[] | undefined> {
  const { kind, path, base } = record.value;
  if ((await tolerate(readdir(path), "ENOENT", "ENOTDIR")) === undefined) return undefined;
  if (kind === "isolated") return (await collectRecord(record, directory))?.files;
  const status = await tryGit(["status", "--porcelain", "-z"], { cwd: path });
  const head = (await tryGit(["rev-parse", "HEAD"], { cwd: path })).stdout.toString("utf8").trim();
  if (status.code !== 0) return undefined;
  const files = status.stdout
    .toString("utf8")
    .split("\0")
    .filter(Boolean)
    .map((line) => line.slice(3));
  return files.length > 0 || head !== base ? files : undefined;
}
