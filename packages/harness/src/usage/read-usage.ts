/**
 * Reads what sessions have used from their logs. A cache beside the logs remembers it, so that only logs that have changed are read
 * again.
 */
import type { Stats } from "node:fs";
import { basename, dirname, join } from "node:path";
import { asRecord, closeAfter, tryParseJson } from "@tau/ai/internal";
import { HarnessError } from "@tau/protocol";
import { createFileStore, type LogStore, type Storage } from "@tau/tools/storage";
import { lookAt, systemCode } from "@tau/tools/platform";
import { orUndefined, readWhole, writeWhole } from "@tau/tools/durable";
import type { StoragePorts } from "../session/file-storage.ts";
import { SessionLog } from "../session/log.ts";
import { readIsDeleted } from "../session/session-info.ts";
import { UsageCounter } from "./count-usage.ts";
import type { SessionUsage } from "./group-usage.ts";

interface UsageOptions {
  signal?: AbortSignal;
  /** Called for each log that is read. */
  onRead?: () => void;
}

interface CachedUsage {
  /** Differs for each state of the log. */
  stamp: string;
  usage: SessionUsage;
}

type Cache = ReadonlyMap<string, CachedUsage>;

const cacheName = "usage.json";
/** Days are local: in another time zone everything is counted again. */
const getFormat = (): string => `tau usage 1 ${new Intl.DateTimeFormat().resolvedOptions().timeZone}`;

/** So many entries are in memory at once. */
const entriesAtOnce = 500;

/** Logs that cannot be read, or were deleted meanwhile, are left out. */
export async function readUsage(
  paths: readonly string[],
  ports: StoragePorts,
  options: UsageOptions = {},
): Promise<SessionUsage[]> {
  const usages: SessionUsage[] = [];
  for (const directory of new Set(paths.map((path) => dirname(path)))) {
    const names = paths.filter((path) => dirname(path) === directory).map((path) => basename(path));
    for (const usage of await readDirectory(directory, names, ports, options)) usages.push(usage);
  }
  return usages;
}

async function readDirectory(
  directory: string,
  names: readonly string[],
  ports: StoragePorts,
  { signal, onRead }: UsageOptions,
): Promise<SessionUsage[]> {
  const known = await readCache(directory, ports);
  const current = new Map<string, CachedUsage>();
  let hasNew = false;
  for (const name of names) {
    signal?.throwIfAborted();
    const path = join(directory, name);
    const stats = await orUndefined(lookAt(ports.fileSystem, path));
    if (!stats) continue;
    const stamp = formatStamp(stats);
    const cached = known.get(name);
    if (cached?.stamp === stamp) {
      current.set(name, cached);
      continue;
    }
    onRead?.();
    const usage = await readLog(createFileStore({ path, ...ports }));
    if (!usage) continue;
    current.set(name, { stamp, usage });
    hasNew = true;
  }
  if (hasNew || current.size < known.size) await writeCache(directory, ports, current);
  return [...current.values()].map(({ usage }) => usage);
}

const formatStamp = ({ size, mtimeMs, ino }: Stats) => `${ino}:${size}:${mtimeMs}`;

/** Each process reads the logs of a storage once. */
const storedUsages = new WeakMap<Storage, ReadonlyMap<string, CachedUsage>>();

/** Sessions that are deleted, or cannot be read, are left out. */
export async function readStoredUsage(
  storage: Storage,
  { signal, onRead }: UsageOptions = {},
): Promise<SessionUsage[]> {
  const known = storedUsages.get(storage);
  const current = new Map<string, CachedUsage>();
  for (const { key, size, modifiedMs } of await storage.list("session")) {
    signal?.throwIfAborted();
    const stamp = `${getFormat()} ${size}:${modifiedMs}`;
    const cached = known?.get(key);
    if (!cached || cached.stamp !== stamp) onRead?.();
    const usage = cached?.stamp === stamp ? cached.usage : await readLog(await storage.open(key));
    if (usage) current.set(key, { stamp, usage });
  }
  storedUsages.set(storage, current);
  return [...current.values()].map(({ usage }) => usage);
}

async function readLog(store: LogStore): Promise<SessionUsage | undefined> {
  try {
    const log = await SessionLog.open({ store, access: "read" });
    return await closeAfter(log, () => log.retryIfReloaded(() => countLog(log)));
  } catch (error) {
    if (systemCode(error) === undefined && !(error instanceof HarnessError)) throw error;
    return undefined;
  }
}

async function countLog(log: SessionLog): Promise<SessionUsage | undefined> {
  if (await readIsDeleted(log)) return undefined;
  const header = await log.header();
  const counter = new UsageCounter(header);
  const { table } = log;
  for (let start = 0; start < table.count; start += entriesAtOnce) {
    for (const entry of await log.read(table.entryRows(start, Math.min(start + entriesAtOnce, table.count)))) {
      counter.add(entry);
    }
  }
  return { cwd: header?.cwd ?? "", agent: header?.agent ?? "", cells: counter.cells };
}

async function readCache(directory: string, { fileSystem }: StoragePorts): Promise<Cache> {
  const bytes = await orUndefined(readWhole(fileSystem, join(directory, cacheName)));
  const cache = asRecord(bytes && tryParseJson(bytes.toString("utf8")));
  if (cache["format"] !== getFormat() || !Array.isArray(cache["sessions"])) return new Map();
  return new Map(cache["sessions"].filter(isCachedSession));
}

function isCachedSession(value: unknown): value is [string, CachedUsage] {
  if (!Array.isArray(value)) return false;
  const [name, cached] = value as unknown[];
  return typeof name === "string" && Array.isArray(asRecord(asRecord(cached)["usage"])["cells"]);
}

interface CacheFile {
  format: string;
  sessions: [string, CachedUsage][];
}

/** Usage can be read of a directory that cannot be written. */
async function writeCache(directory: string, { fileSystem, ids }: StoragePorts, cache: Cache): Promise<void> {
  const file: CacheFile = { format: getFormat(), sessions: [...cache] };
  const bytes = Buffer.from(JSON.stringify(file));
  await orUndefined(writeWhole(fileSystem, { path: join(directory, cacheName), bytes, ids }));
}
