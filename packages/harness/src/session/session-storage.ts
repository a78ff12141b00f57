/** Where sessions are stored: a directory, or memory. */
import { join } from "node:path";
import type { Clock, Ids } from "@tau/ai";
import { type FileSystem, tolerate } from "@tau/tools/platform";
import { writeWhole } from "@tau/tools/durable";
import type { SessionHeader } from "./entry.ts";
import { createFileStore } from "./file-store.ts";
import { createMemoryStore, MemoryLog } from "./memory-store.ts";
import { chosenFileName, idInFileName, isSessionFile, sessionFileName } from "./session-directory.ts";
import type { LogStore } from "./store.ts";

export interface SessionStorage {
  /** Undefined in memory. */
  readonly directory: string | undefined;
  /** The store of a new session. All processes that choose the same id get the same log. */
  createStore(header: SessionHeader, id: "chosen" | "unique"): LogStore;
  /** Creates a session with all of `bytes` in it, or none at all. */
  createWhole(header: SessionHeader, bytes: Uint8Array): Promise<LogStore>;
  /** Undefined if there is no session with this id. */
  findStore(id: string): Promise<LogStore | undefined>;
}

export interface StoragePorts {
  fileSystem: FileSystem;
  clock: Clock;
  ids: Ids;
}

export function createDirectoryStorage(directory: string, ports: StoragePorts): SessionStorage {
  const openFile = (path: string) => createFileStore({ path, ...ports });
  const getPath = ({ timestamp, id }: SessionHeader) => join(directory, sessionFileName(timestamp, id));
  return {
    directory,
    createStore: (header, id) =>
      openFile(id === "chosen" ? join(directory, chosenFileName(header.id)) : getPath(header)),
    async createWhole(header, bytes) {
      const path = getPath(header);
      await writeWhole(ports.fileSystem, { path, bytes, ids: ports.ids });
      return openFile(path);
    },
    async findStore(id) {
      const path = await findSessionFile(ports.fileSystem, directory, id);
      return path === undefined ? undefined : openFile(path);
    },
  };
}

/** The file of a session, by the id in its name. A file that was renamed is not found. */
export async function findSessionFile(fs: FileSystem, directory: string, id: string): Promise<string | undefined> {
  const names = await listNames(fs, directory);
  const match = names.find((name) => isSessionFile(name) && idInFileName(name) === id);
  return match === undefined ? undefined : join(directory, match);
}

/** The names in a directory; none if it does not exist. */
export async function listNames(fs: FileSystem, directory: string): Promise<string[]> {
  return ((await tolerate(fs.readdir(directory), "ENOENT")) ?? []).map(({ name }) => name);
}

export function createMemoryStorage(): SessionStorage {
  const logs = new Map<string, MemoryLog>();
  const create = ({ id }: SessionHeader, log: MemoryLog) => {
    logs.set(id, log);
    return createMemoryStore({ name: id, log });
  };
  return {
    directory: undefined,
    createStore: (header) => create(header, new MemoryLog()),
    createWhole: async (header, bytes) => create(header, new MemoryLog(bytes)),
    async findStore(id) {
      const log = logs.get(id);
      return log && createMemoryStore({ name: id, log });
    },
  };
}
