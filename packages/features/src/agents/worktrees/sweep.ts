/** Cleans up after processes that were killed while tasks worked in directories of their own. */
import { readdir } from "node:fs/promises";
import { getErrorMessage } from "@tau/ai/internal";
import { tolerate } from "@tau/tools/platform";
import { listFanoutDirectories } from "./directory.ts";
import { findChangedFiles } from "./changed-files.ts";
import { tryGit } from "./git.ts";
import { collectRecord, discardIsolated } from "./isolated.ts";
import { type HeldRecord, holdRecord, listRecords, removeLeftovers, type WorktreeRecord } from "./records.ts";
import { removeUnchanged, removeWorktree } from "./worktree-manager.ts";

interface Sweep {
  /** The names of worktrees without changes, which are gone now. */
  removed: string[];
  /** Worktrees with changes whose process was killed. */
  kept: WorktreeRecord[];
  problems: string[];
}

export const sweepWorktrees = (fanoutDirectory: string): Promise<Sweep> =>
  sweepDirectories(listFanoutDirectories(fanoutDirectory));

/** Leaves alone what a running process works with. */
export async function sweepDirectories(directories: readonly string[]): Promise<Sweep> {
  const sweep: Sweep = { removed: [], kept: [], problems: [] };
  for (const directory of directories) {
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
  const { name, state } = record.value;
  if (state === "kept") return;
  const changed = state === "making" ? undefined : await findChanged(record, directory);
  if (!changed && (await discard(record, directory))) {
    sweep.removed.push(name);
    return;
  }
  await record.change({ state: "kept", files: changed ?? [] });
  sweep.kept.push(record.value);
}

/** False if there are changes after all. */
async function discard(record: HeldRecord, directory: string): Promise<boolean> {
  const { kind, state, origin } = record.value;
  if (origin !== undefined && state === "open") return await removeUnchanged(record);
  if (kind === "isolated") await discardIsolated(record, directory);
  else await removeWorktree(record, { onlyAtBase: origin !== undefined });
  return true;
}

/** The changed files; undefined if nothing of value is there. */
async function findChanged(record: HeldRecord, directory: string): Promise<string[] | undefined> {
  const { kind, path, base, origin } = record.value;
  if ((await tolerate(readdir(path), "ENOENT", "ENOTDIR")) === undefined) return undefined;
  if (kind === "isolated") return (await collectRecord(record, directory))?.files;
  if (origin !== undefined) return await findChangedFiles(record.value);
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
