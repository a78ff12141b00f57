/** Reports what the sessions of a user have used. */
import { join } from "node:path";
import { systemClock, systemIds } from "@tau/ai";
import type { UsageGroup, UsageReport } from "@tau/protocol";
import { nodeFileSystem } from "@tau/tools/platform";
import { orUndefined } from "@tau/tools/durable";
import { listNames, type Storage } from "@tau/tools/storage";
import type { StoragePorts } from "../session/file-storage.ts";
import { isSessionFile, sessionsRoot } from "../session/session-directory.ts";
import { groupUsage } from "./group-usage.ts";
import { readStoredUsage, readUsage } from "./read-usage.ts";

export interface GetUsageOptions extends Partial<StoragePorts> {
  /** Sessions of all working directories in this directory of the user. */
  agentDir: string;
  /** A further directory of sessions, such as that of the setting `sessionDir`. */
  sessionDir?: string;
  /** Where the sessions are instead of these directories. */
  storage?: Storage;
  by: UsageGroup;
  /** The first and the last local day that count, such as `2026-03-01`. */
  since?: string;
  until?: string;
  signal?: AbortSignal;
  /** Called for each log that is read because it has changed. */
  onRead?: () => void;
}

/** Sessions in the trash, and those that were deleted, do not count. */
export async function getUsage({
  agentDir,
  sessionDir,
  storage,
  signal,
  onRead,
  fileSystem = nodeFileSystem,
  clock = systemClock,
  ids = systemIds,
  ...filter
}: GetUsageOptions): Promise<UsageReport> {
  const options = { ...(signal && { signal }), ...(onRead && { onRead }) };
  if (storage) return groupUsage(await readStoredUsage(storage, options), filter);
  const ports = { fileSystem, clock, ids };
  const root = sessionsRoot(agentDir);
  const directories = (await orUndefined(listNames(fileSystem, root)))?.map((name) => join(root, name)) ?? [];
  if (sessionDir !== undefined && !directories.includes(sessionDir)) directories.push(sessionDir);
  const paths: string[] = [];
  for (const directory of directories) {
    // Files, and directories without permission, are skipped.
    const names = (await orUndefined(listNames(fileSystem, directory))) ?? [];
    for (const name of names) if (isSessionFile(name)) paths.push(join(directory, name));
  }
  return groupUsage(await readUsage(paths, ports, options), filter);
}
