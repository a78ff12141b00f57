/** Logs that are no sessions, as the files of tau's own directory. */
import { join } from "node:path";
import { type Clock, type Ids, systemClock, systemIds } from "@tau/ai";
import { type FileSystem, lookAt, nodeFileSystem, unlessMissing } from "../platform/index.ts";
import { createFileStore } from "./file-store.ts";
import { listNames, removeLogFiles, withLogLock } from "./side-files.ts";
import { getLogId, type LogKey, type RemoveOutcome, type Storage, type StoredLog } from "./storage.ts";

interface RecordFilesOptions {
  /** The directory of tau's own files. */
  agentDir: string;
  fileSystem?: FileSystem;
  clock?: Clock;
  ids?: Ids;
}

const extension = ".jsonl";

/** Keeps records in `agentDir` and those of a gateway in `agentDir/gateway`. It has no sessions. */
export function createRecordFiles({
  agentDir,
  fileSystem = nodeFileSystem,
  clock = systemClock,
  ids = systemIds,
}: RecordFilesOptions): Storage {
  const getDirectory = (key: LogKey) => (key.startsWith("gateway/") ? join(agentDir, "gateway") : agentDir);
  const getPath = (key: LogKey) => join(getDirectory(key), `${getLogId(key)}${extension}`);
  return {
    name: agentDir,
    async open(key) {
      // The target of a link is replaced, not the link.
      const path = (await unlessMissing(fileSystem.realpath(getPath(key)))) ?? getPath(key);
      return createFileStore({ path, fileSystem, clock, ids });
    },
    async list(collection): Promise<StoredLog[]> {
      if (collection === "session") return [];
      const names = await listNames(fileSystem, getDirectory(`${collection}/`));
      const keys = names.filter((name) => name.endsWith(extension)).map((name) => name.slice(0, -extension.length));
      return await describeLogs(
        fileSystem,
        keys.map((id) => ({ key: `${collection}/${id}` as const, path: getPath(`${collection}/${id}`) })),
      );
    },
    remove: (key) => removeLog(fileSystem, getPath(key)),
  };
}

/** Describes the files that exist. */
export async function describeLogs(
  fs: FileSystem,
  files: readonly { key: LogKey; path: string }[],
): Promise<StoredLog[]> {
  const logs: StoredLog[] = [];
  for (const { key, path } of files) {
    const stats = await lookAt(fs, path);
    if (stats?.isFile() && stats.size > 0) logs.push({ key, size: stats.size, modifiedMs: stats.mtimeMs });
  }
  return logs;
}

/** Removes the file of a log with all that belongs to it. */
export async function removeLog(fs: FileSystem, path: string): Promise<RemoveOutcome> {
  if (!(await lookAt(fs, path))) return { kind: "missing" };
  const outcome = await withLogLock(fs, path, (sideFiles) => removeLogFiles(fs, path, sideFiles));
  return outcome.kind === "busy" ? outcome : { kind: "removed" };
}
