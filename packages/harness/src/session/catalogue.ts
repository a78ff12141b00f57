/**
 * What a list of sessions shows, remembered beside them, so that ten thousand are listed without being opened. It mends
 * itself: what it says of a file counts only as long as the file is the one it was written about.
 */
import type { Stats } from "node:fs";
import { join } from "node:path";
import { type FileSystem, systemCode, lookAt } from "@tau/tools/platform";
import { createFileStore } from "./file-store.ts";
import { orUndefined, readWhole, writeWhole } from "../durable-file.ts";
import { listNames, type StoragePorts } from "./session-storage.ts";
import { idInFileName, isSessionFile } from "./session-directory.ts";
import { describeSession, type SessionInfo } from "./session-info.ts";

/** Called now and then while sessions are looked at that were not known. */
export type ListProgress = (loaded: number, total: number) => void;

export interface ListOptions {
  onProgress?: ListProgress;
  signal?: AbortSignal;
}

interface Known {
  /** Tells this state of the file from later ones. */
  stamp: string;
  /** Null for what is no session. */
  info: StoredInfo | null;
}

/** As JSON keeps it. */
type StoredInfo = Omit<SessionInfo, "path" | "created" | "modified"> & { created: number; modified: number };

const fileName = "catalogue.json";
const format = "tau sessions 1";
/** How many files are looked at at once. */
const atOnce = 16;

/** The sessions of a directory, the one that was used last first. Files that are no sessions are left out. */
export async function listSessions(
  directory: string,
  ports: StoragePorts,
  options: ListOptions = {},
): Promise<SessionInfo[]> {
  const { fileSystem: fs } = ports;
  const names = (await listNames(fs, directory)).filter(isSessionFile);
  const known = names.length === 0 ? new Map<string, Known>() : await readCatalogue(fs, directory);
  const found = new Map<string, Known>();
  let fresh = 0;
  let loaded = 0;
  let looks = 0;
  await forEach(names, async (name) => {
    options.signal?.throwIfAborted();
    const path = join(directory, name);
    const stats = await orUndefined(lookAt(fs, path));
    if (++looks % looksAtOnce === 0) await new Promise((resolve) => setImmediate(resolve));
    const before = known.get(name);
    const stamp = stats && getStamp(stats);
    if (stamp !== undefined && before?.stamp === stamp) found.set(name, before);
    else if (stamp !== undefined) {
      found.set(name, { stamp, info: await describe(path, ports) });
      fresh++;
    }
    if (++loaded % 100 === 0) options.onProgress?.(loaded, names.length);
  });
  if (fresh > 0 || found.size < known.size) await writeCatalogue(ports, directory, found);
  return [...found]
    .flatMap(([name, { info }]) => (info ? [restored(join(directory, name), info)] : []))
    .sort(lastUsedFirst);
}

/** How many files are looked at before others get their turn. */
const looksAtOnce = 64;

const restored = (path: string, info: StoredInfo): SessionInfo => ({
  ...info,
  path,
  created: new Date(info.created),
  modified: new Date(info.modified),
});

/** The sessions of all directories below `root`, the one that was used last first. */
export async function listAllSessions(
  root: string,
  ports: StoragePorts,
  options: ListOptions = {},
): Promise<SessionInfo[]> {
  const all: SessionInfo[] = [];
  for (const name of await listNames(ports.fileSystem, root)) {
    // What lies between the directories, or may not be looked into, hides nothing else.
    const sessions = await orUndefined(listSessions(join(root, name), ports, options));
    for (const session of sessions ?? []) all.push(session);
  }
  return all.sort(lastUsedFirst);
}

const lastUsedFirst = (a: SessionInfo, b: SessionInfo) => b.modified.getTime() - a.modified.getTime();

const getStamp = ({ size, mtimeMs, ino }: Stats) => `${ino}:${size}:${mtimeMs}`;

async function describe(path: string, ports: StoragePorts): Promise<StoredInfo | null> {
  try {
    const described = await describeSession(createFileStore({ path, ...ports }));
    if (!described) return null;
    const { path: _known, created, modified, ...info } = described;
    return { ...info, created: created.getTime(), modified: modified.getTime() };
  } catch (error) {
    // One that cannot be opened must not hide the others; one that can, but not understood, is listed by its name.
    return systemCode(error) === undefined ? strangeInfo(path) : null;
  }
}

const strangeInfo = (path: string): StoredInfo => ({
  id: idInFileName(path),
  cwd: "",
  parentId: null,
  branchPoint: null,
  created: 0,
  modified: 0,
  messageCount: 0,
  firstMessage: "",
});

async function readCatalogue(fs: FileSystem, directory: string): Promise<Map<string, Known>> {
  try {
    const bytes = await readWhole(fs, join(directory, fileName));
    if (!bytes) return new Map();
    const catalogue = JSON.parse(bytes.toString("utf8")) as { format?: string; sessions?: [string, Known][] };
    return new Map(catalogue.format === format ? catalogue.sessions : []);
  } catch (error) {
    // It is only remembered, and can be made again.
    if (systemCode(error) === undefined && !(error instanceof SyntaxError) && !(error instanceof TypeError))
      throw error;
    return new Map();
  }
}

async function writeCatalogue(
  { fileSystem, ids }: StoragePorts,
  directory: string,
  known: Map<string, Known>,
): Promise<void> {
  const path = join(directory, fileName);
  const bytes = Buffer.from(JSON.stringify({ format, sessions: [...known] }));
  try {
    await writeWhole(fileSystem, { path, bytes, ids });
  } catch (error) {
    // A directory that cannot be written can still be listed.
    if (systemCode(error) === undefined) throw error;
  }
}

async function forEach<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < items.length) await work(items[next++]!);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
}
