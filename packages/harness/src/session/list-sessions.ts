/**
 * Lists sessions without opening them all: a catalogue beside the sessions remembers what a list shows. An entry of the
 * catalogue is used only while its file is unchanged.
 */
import { constants, type Stats } from "node:fs";
import { join } from "node:path";
import { closeAfter } from "@tau/ai/internal";
import { type FileSystem, systemCode, lookAt } from "@tau/tools/platform";
import { mustBeRegular, orUndefined, readUpTo, readWhole, writeWhole } from "@tau/tools/durable";
import { createFileStore, createMemoryStore, listNames, type LogStore, MemoryLog } from "@tau/tools/storage";
import type { StoragePorts } from "./file-storage.ts";
import { idInFileName, isSessionFile } from "./session-directory.ts";
import { describeFile, describeSession, isChildSession, type SessionInfo, type StoredInfo } from "./session-info.ts";

/** Called after every hundred files. */
export type ListProgress = (loaded: number, total: number) => void;

export interface ListOptions {
  onProgress?: ListProgress;
  signal?: AbortSignal;
}

interface CatalogueEntry {
  /** Differs for each state of the file. */
  stamp: string;
  /** Null if the file is not a session. */
  info: StoredInfo | null;
}

type Catalogue = Map<string, CatalogueEntry>;

const catalogueName = "catalogue.json";
const format = "tau sessions 5";
const maxConcurrentFiles = 16;
/** After so many files, other work gets its turn. */
const filesPerTurn = 64;
/** A log of this size has no index. Most are smaller, and each access to a file takes longer than reading so much. */
const maxReadAtOnce = 64 * 1024;

/**
 * The sessions of a directory, the last used first. Files that are not sessions are left out; one that cannot be read is
 * listed by its name, at the end.
 */
export async function listSessions(
  directory: string,
  ports: StoragePorts,
  options: ListOptions = {},
): Promise<SessionInfo[]> {
  const { fileSystem: fs } = ports;
  const names = (await listNames(fs, directory)).filter(isSessionFile);
  const known: Catalogue = names.length === 0 ? new Map() : await readCatalogue(fs, directory);
  const current: Catalogue = new Map();
  const unreadable: SessionInfo[] = [];
  let hasNew = false;
  let statCount = 0;
  let loadedCount = 0;
  const load = async (name: string) => {
    options.signal?.throwIfAborted();
    const path = join(directory, name);
    const stats = await orUndefined(lookAt(fs, path));
    if (++statCount % filesPerTurn === 0) await new Promise((resolve) => setImmediate(resolve));
    if (stats) {
      const stamp = formatStamp(stats);
      const entry = known.get(name);
      const isKnown = entry?.stamp === stamp;
      const info = isKnown ? entry.info : await describe(path, stats, ports);
      // The next list tries again: the stamp stays the same when the fault or the missing permission is gone.
      if (info === undefined) unreadable.push(toSessionInfo(path, describeFile(path, undefined)));
      else {
        current.set(name, { stamp, info });
        hasNew ||= !isKnown;
      }
    }
    if (++loadedCount % 100 === 0) options.onProgress?.(loadedCount, names.length);
  };
  let next = 0;
  const loadNext = async () => {
    while (next < names.length) await load(names[next++]!);
  };
  await Promise.all(Array.from({ length: Math.min(maxConcurrentFiles, names.length) }, loadNext));
  if (hasNew || current.size < known.size) await writeCatalogue(ports, directory, current);
  return [...current]
    .flatMap(([name, { info }]) => (info ? [toSessionInfo(join(directory, name), info)] : []))
    .concat(unreadable)
    .sort(compareLastUsed);
}

const toSessionInfo = (path: string, info: StoredInfo): SessionInfo => ({
  ...info,
  path,
  created: new Date(info.created),
  modified: new Date(info.modified),
});

export interface PageOptions {
  limit: number;
  /** The id of the session that the page follows. Default: the page is the first. */
  after?: string;
  /** Whether those are listed that another session started for a task. Default true. */
  children?: boolean;
}

/**
 * A full page of the sessions in these directories, the last used first. Only their files are opened: the catalogue takes longer
 * to read than they do. Undefined if fewer sessions follow, or if `after` is not found by the name of its file: then all have
 * to be listed.
 */
export async function listLastUsed(
  directories: readonly string[],
  ports: StoragePorts,
  { limit, after, children = true }: PageOptions,
): Promise<SessionInfo[] | undefined> {
  const files = (await findFiles(directories, ports.fileSystem)).sort(
    // Whole milliseconds, as in a `Date`: the order has to be that of `listSessions`.
    (a, b) => Math.trunc(b.stats.mtimeMs) - Math.trunc(a.stats.mtimeMs) || comparePaths(a, b),
  );
  let next = after === undefined ? 0 : files.findIndex(({ path }) => idInFileName(path) === after) + 1;
  if (after !== undefined && next === 0) return undefined;
  const page: SessionInfo[] = [];
  while (page.length < limit) {
    const batch = files.slice(next, next + limit - page.length);
    next += batch.length;
    // What follows the page need not be sessions, so it is not known whether the list ends here.
    if (next >= files.length) return undefined;
    const infos = await Promise.all(batch.map(({ path, stats }) => describe(path, stats, ports)));
    for (const [index, info] of infos.entries()) {
      // A file that cannot be read comes last in a list.
      if (info && info.modified > 0 && (children || !isChildSession(info)))
        page.push(toSessionInfo(batch[index]!.path, info));
    }
  }
  return page;
}

/** Describes a session for a list; undefined if the file is not a session. */
export async function describeSessionFile(path: string, ports: StoragePorts): Promise<SessionInfo | undefined> {
  const stats = await orUndefined(lookAt(ports.fileSystem, path));
  const info = stats && (await describe(path, stats, ports));
  return info ? toSessionInfo(path, info) : undefined;
}

interface FoundFile {
  path: string;
  stats: Stats;
}

async function findFiles(directories: readonly string[], fs: FileSystem): Promise<FoundFile[]> {
  const files: FoundFile[] = [];
  let statCount = 0;
  for (const directory of directories) {
    // Files, and directories without permission, are skipped.
    for (const name of (await orUndefined(listNames(fs, directory))) ?? []) {
      if (!isSessionFile(name)) continue;
      const path = join(directory, name);
      const stats = await orUndefined(lookAt(fs, path));
      if (stats) files.push({ path, stats });
      if (++statCount % filesPerTurn === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  }
  return files;
}

/** The sessions of all directories below `root`, the last used first. */
export async function listAllSessions(
  root: string,
  ports: StoragePorts,
  options: ListOptions = {},
): Promise<SessionInfo[]> {
  const all: SessionInfo[] = [];
  for (const name of await listNames(ports.fileSystem, root)) {
    // Files, and directories without permission, are skipped.
    const sessions = await orUndefined(listSessions(join(root, name), ports, options));
    for (const session of sessions ?? []) all.push(session);
  }
  return all.sort(compareLastUsed);
}

const compareLastUsed = (a: SessionInfo, b: SessionInfo) =>
  b.modified.getTime() - a.modified.getTime() || comparePaths(a, b);

const comparePaths = (a: { path: string }, b: { path: string }) => (a.path < b.path ? -1 : 1);

const formatStamp = ({ size, mtimeMs, ino }: Stats) => `${ino}:${size}:${mtimeMs}`;

/** Null if the file is not a session, undefined if it cannot be read now. */
async function describe(path: string, stats: Stats, ports: StoragePorts): Promise<StoredInfo | null | undefined> {
  try {
    const info = await describeSession(await openStore(path, stats, ports));
    return info ? { ...info, modified: stats.mtimeMs } : null;
  } catch (error) {
    // A file that cannot be opened must not hide the others. One with content that cannot be used is listed by its name.
    const code = systemCode(error);
    if (code === undefined) return describeFile(path, undefined);
    return code === "EISDIR" || code === "ENOENT" || code === "EINVAL" ? null : undefined;
  }
}

async function openStore(path: string, stats: Stats, ports: StoragePorts): Promise<LogStore> {
  mustBeRegular(path, stats);
  const { size } = stats;
  if (size > maxReadAtOnce) return createFileStore({ path, ...ports });
  const handle = await ports.fileSystem.open(path, constants.O_RDONLY);
  const bytes = await closeAfter(handle, () => readUpTo(handle, size));
  return createMemoryStore({ name: path, log: new MemoryLog(bytes) });
}

async function readCatalogue(fs: FileSystem, directory: string): Promise<Catalogue> {
  try {
    const bytes = await readWhole(fs, join(directory, catalogueName));
    if (!bytes) return new Map();
    const catalogue = JSON.parse(bytes.toString("utf8")) as { format?: string; sessions?: [string, CatalogueEntry][] };
    return new Map(catalogue.format === format ? catalogue.sessions : []);
  } catch (error) {
    // The catalogue is only a cache.
    if (systemCode(error) === undefined && !(error instanceof SyntaxError) && !(error instanceof TypeError))
      throw error;
    return new Map();
  }
}

/** A directory that cannot be written can still be listed. */
async function writeCatalogue(
  { fileSystem, ids }: StoragePorts,
  directory: string,
  catalogue: Catalogue,
): Promise<void> {
  const bytes = Buffer.from(JSON.stringify({ format, sessions: [...catalogue] }));
  await orUndefined(writeWhole(fileSystem, { path: join(directory, catalogueName), bytes, ids }));
}
