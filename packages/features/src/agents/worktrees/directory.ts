/** The directory in which the worktrees of tasks are. */
import { existsSync } from "node:fs";
import { lstat, mkdir } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { HarnessError } from "@tau/protocol";
import { unlessMissing } from "@tau/tools/platform";

type Env = Readonly<Record<string, string | undefined>>;

/** Finds where it is: the variable `PI_FANOUT_DIR`, else the setting `fanout.directory`, else a temporary directory. */
export function getFanoutDirectory(setting: string | undefined, env: Env = process.env): string {
  const chosen = env["PI_FANOUT_DIR"] || setting;
  if (!chosen) return join(tmpdir(), "pi-fanout");
  return resolve(homedir(), chosen.replace(/^~(?=\/|$)/, homedir()));
}

/**
 * Makes the directory, only for us. Resolves with its path: in the temporary directory, where any user may take a name, another
 * one if it belongs to somebody else.
 */
export async function makeFanoutDirectory(directory: string): Promise<string> {
  if (await tryToMake(directory)) return directory;
  const own = `${directory}-${process.getuid?.() ?? "own"}`;
  if (resolve(directory, "..") === resolve(tmpdir()) && (await tryToMake(own))) return own;
  throw new HarnessError(
    "invalid_input",
    `Worktrees cannot be made in ${directory}: it is not a directory of yours. Set PI_FANOUT_DIR, or the setting fanout.directory.`,
  );
}

/** The directories that `makeFanoutDirectory` may have chosen. */
export const listFanoutDirectories = (directory: string): readonly string[] => [
  directory,
  `${directory}-${process.getuid?.() ?? "own"}`,
];

/** The name of the directory with the records, in the directory of the worktrees. */
export const recordsName = ".tau-worktrees";

/** Whether there are worktrees to look at. Synchronous; a single look where there is no such directory. */
export const hasRecords = (directory: string): boolean =>
  existsSync(directory) && listFanoutDirectories(directory).some((path) => existsSync(join(path, recordsName)));

async function tryToMake(directory: string): Promise<boolean> {
  await mkdir(directory, { recursive: true, mode: 0o700 }).catch(() => undefined);
  const stats = await unlessMissing(lstat(directory));
  return stats?.isDirectory() === true && (process.getuid === undefined || stats.uid === process.getuid());
}
