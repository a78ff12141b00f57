/** Names the log files of a session among the system's temporary files, and removes those of killed sessions. */
import type { Stats } from "node:fs";
import { join } from "node:path";
import type { Clock } from "@tau/ai";
import { systemCode } from "../errors.ts";
import type { FileSystem } from "../platform/file-system.ts";

export const temporaryName = (name: string, id: string): string => `tau-${process.pid}-${name}-${id}.log`;

const ourNames = /^tau-(\d+)-[a-z]+-[\w-]+\.log$/;

/** Long enough that the process that wrote it is done, also in another container. */
const abandonedMs = 3 * 24 * 3_600 * 1_000;

/** Whether a file is a private one of ours that was not written to for days. Pure. */
function isOld(stats: Pick<Stats, "isFile" | "uid" | "mode" | "mtimeMs">, uid: number, nowMs: number): boolean {
  const isPrivate = stats.isFile() && stats.uid === uid && (stats.mode & 0o777) === 0o600;
  return isPrivate && nowMs - stats.mtimeMs > abandonedMs;
}

interface AbandonedLogs {
  fs: FileSystem;
  clock: Clock;
  directory: string;
}

/** Removes old files of processes that are gone. Does nothing where the system has no user ids. */
export async function removeAbandoned({ fs, clock, directory }: AbandonedLogs): Promise<void> {
  const uid = process.getuid?.();
  if (uid === undefined) return;
  for (const { name } of await fs.readdir(directory)) {
    const [, pid] = ourNames.exec(name) ?? [];
    if (pid === undefined || isRunning(Number(pid))) continue;
    const path = join(directory, name);
    try {
      if (isOld(await fs.lstat(path), uid, clock.now())) await fs.unlink(path);
    } catch (error) {
      // Another process was faster, or the system refuses it.
      if (systemCode(error) === undefined) throw error;
    }
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) !== "ESRCH";
  }
}
