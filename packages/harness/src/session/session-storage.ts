/** A place where sessions live: a directory, or memory. */
import { join } from "node:path";
import type { Clock, Ids } from "@tau/ai";
import { type FileSystem, systemCode } from "@tau/tools/platform";
import { writeWhole } from "../durable-file.ts";
import type { SessionHeader } from "./entry.ts";
import { createFileStore } from "./file-store.ts";
import { createMemoryStore, MemoryLog } from "./memory-store.ts";
import { chosenFileName, idInFileName, isSessionFile, sessionFileName } from "./session-directory.ts";
import type { LogStore } from "./store.ts";

export interface SessionStorage {
  /** The directory; undefined in memory. */
  readonly directory: string | undefined;
  /** The store of a session that does not exist yet. With an id that somebody chose, all who choose it get the same. */
  newStore(header: SessionHeader, id: "chosen" | "unique"): LogStore;
  /** Makes a session with all of `bytes` in it, or none at all. */
  createWhole(header: SessionHeader, bytes: Uint8Array): Promise<LogStore>;
  /** The store of a session; undefined when there is none with this id. */
  find(id: string): Promise<LogStore | undefined>;
}

export interface StoragePorts {
  fileSystem: FileSystem;
  clock: Clock;
  ids: Ids;
}

export function directoryStorage(directory: string, ports: StoragePorts): SessionStorage {
  const { fileSystem: fs, ids } = ports;
  const storeAt = (path: string) => createFileStore({ path, ...ports });
  const getPath = ({ timestamp, id }: SessionHeader) => join(directory, sessionFileName(timestamp, id));
  return {
    directory,
    newStore: (header, id) => storeAt(id === "chosen" ? join(directory, chosenFileName(header.id)) : getPath(header)),
    async createWhole(header, bytes) {
      const path = getPath(header);
      await writeWhole(fs, { path, bytes, ids });
      return storeAt(path);
    },
    async find(id) {
      const path = await findSessionFile(fs, directory, id);
      return path === undefined ? undefined : storeAt(path);
    },
  };
}

/** The file of a session by its id. The id is in the name; a file that was renamed is not found. */
export async function findSessionFile(fs: FileSystem, directory: string, id: string): Promise<string | undefined> {
  const names = (await listNames(fs, directory)).filter(isSessionFile);
  const name = names.find((one) => idInFileName(one) === id);
  return name === undefined ? undefined : join(directory, name);
}

/** The names in a directory; none when it does not exist. */
export async function listNames(fs: FileSystem, directory: string): Promise<string[]> {
  try {
    return (await fs.readdir(directory)).map(({ name }) => name);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return [];
    throw error;
  }
}

/** Sessions that are gone when the process is. */
export function memoryStorage(clock: Clock): SessionStorage {
  const logs = new Map<string, MemoryLog>();
  const createStore = (id: string, log: MemoryLog) => createMemoryStore({ name: id, log, now: () => clock.now() });
  const newStore = ({ id }: SessionHeader) => {
    const log = new MemoryLog();
    logs.set(id, log);
    return createStore(id, log);
  };
  return {
    directory: undefined,
    newStore,
    async createWhole(header, bytes) {
      const store = newStore(header);
      await store.append(bytes, { position: 0, sync: false });
      return store;
    },
    async find(id) {
      const log = logs.get(id);
      return log && createStore(id, log);
    },
  };
}
