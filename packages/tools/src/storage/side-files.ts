/** The files beside the file of a log, and its lock. */
import { basename, dirname, join } from "node:path";
import { orUndefined } from "../durable/index.ts";
import { acquireLease, type FileSystem, type LeaseOutcome, tolerate, unlessMissing } from "../platform/index.ts";
import type { LogBusy } from "./storage.ts";

type SideFiles = readonly string[];

export const toBusy = ({ holder, advice }: Extract<LeaseOutcome, { kind: "busy" }>): LogBusy => ({
  kind: "busy",
  holder: {
    name: holder.pid === process.pid ? "another part of this program" : `process ${holder.pid}`,
    generation: holder.generation,
  },
  ...(advice !== undefined && { advice }),
});

/** Runs `work`, which takes all files of a log away or puts them there, while no other process can write the log. */
export async function withLogLock(
  fs: FileSystem,
  path: string,
  work: (sideFiles: SideFiles) => Promise<void>,
): Promise<{ kind: "done" } | LogBusy> {
  const lock = `${path}.lock`;
  const outcome = await acquireLease(lock, { fileSystem: fs });
  if (outcome.kind === "busy") return toBusy(outcome);
  const { lease } = outcome;
  try {
    await work(findSideFiles(basename(path), await listNames(fs, dirname(path))));
  } catch (error) {
    await orUndefined(lease.release().catch(() => fs.unlink(lock)));
    throw error;
  }
  // While the lease is ours: after a release it could be the lock of another process.
  await orUndefined(fs.unlink(lock).catch(() => lease.release()));
  return { kind: "done" };
}

/** The log first: the side files are useless without it, not the other way round. */
export async function removeLogFiles(fs: FileSystem, path: string, sideFiles: SideFiles): Promise<void> {
  await fs.unlink(path);
  for (const name of sideFiles) await removeAll(fs, join(dirname(path), name));
}

/** Removes a file, or a directory with all that is in it, if it exists. */
export async function removeAll(fs: FileSystem, path: string): Promise<void> {
  const stats = await unlessMissing(fs.lstat(path));
  if (!stats) return;
  if (!stats.isDirectory()) return await fs.unlink(path);
  for (const { name } of await fs.readdir(path)) await removeAll(fs, join(path, name));
  await fs.rmdir?.(path);
}

/** The names in a directory; none if it does not exist. */
export async function listNames(fs: FileSystem, directory: string): Promise<string[]> {
  return ((await tolerate(fs.readdir(directory), "ENOENT")) ?? []).map(({ name }) => name);
}

/**
 * Matches what follows the name of a log in the names of its side files: the index, the index for searches, long results, a
 * torn end, the log before it was upgraded or repaired, and drafts of these, which a killed process may leave.
 */
const sideFileSuffix = /^(?:(?:idx|search|results|(?:torn|old|damaged)-[^.]+)(?:\.[\da-f-]{36})?|[\da-f-]{36})$/;

/** The files that belong to a log by their names. Others, such as a copy `LOG.bak`, are the user's own. Pure. */
const findSideFiles = (log: string, names: readonly string[]): string[] =>
  names.filter((name) => name.startsWith(`${log}.`) && sideFileSuffix.test(name.slice(log.length + 1)));
