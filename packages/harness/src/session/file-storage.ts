/** Sessions as the files of a directory. What else has to be stored is in the files of tau's own directory. */
import { join } from "node:path";
import { type Clock, type Ids, systemClock, systemIds } from "@tau/ai";
import { type FileSystem, nodeFileSystem } from "@tau/tools/platform";
import {
  createFileStore,
  createRecordFiles,
  describeLogs,
  getLogId,
  listNames,
  type LogCollection,
  type LogKey,
  type LogStore,
  type RemoveOutcome,
  removeLog,
  type Storage,
  type StoredLog,
} from "@tau/tools/storage";
import { chosenFileName, idInFileName, isSessionFile, sessionFileName } from "./session-directory.ts";

export interface StoragePorts {
  fileSystem: FileSystem;
  clock: Clock;
  ids: Ids;
}

export interface FileStorageOptions extends Partial<StoragePorts> {
  /** The directory of the sessions. */
  directory: string;
  /** The directory of tau's own files. Default: that of the sessions. */
  agentDir?: string;
}

export const createFileStorage = (options: FileStorageOptions): Storage => new FileStorage(options);

/** The directory of the sessions of a storage. Undefined if they are not in files. */
export const getSessionDirectory = (storage: Storage): string | undefined =>
  storage instanceof FileStorage ? storage.directory : undefined;

class FileStorage implements Storage {
  /** The directory of the sessions. */
  readonly directory: string;
  readonly #ports: StoragePorts;
  readonly #records: Storage;

  constructor({
    directory,
    agentDir = directory,
    fileSystem = nodeFileSystem,
    clock = systemClock,
    ids = systemIds,
  }: FileStorageOptions) {
    this.directory = directory;
    this.#ports = { fileSystem, clock, ids };
    this.#records = createRecordFiles({ agentDir, ...this.#ports });
  }

  get name(): string {
    return this.directory;
  }

  async open(key: LogKey, { createdAt }: { createdAt?: string } = {}): Promise<LogStore> {
    if (!isSession(key)) return await this.#records.open(key);
    const id = getLogId(key);
    const path =
      createdAt === undefined
        ? ((await this.#findFile(id)) ?? join(this.directory, chosenFileName(id)))
        : join(this.directory, sessionFileName(createdAt, id));
    return createFileStore({ path, ...this.#ports });
  }

  async list(collection: LogCollection): Promise<readonly StoredLog[]> {
    if (collection !== "session") return await this.#records.list(collection);
    const { fileSystem } = this.#ports;
    const names = (await listNames(fileSystem, this.directory)).filter(isSessionFile);
    const toFile = (name: string) => ({
      key: `session/${idInFileName(name)}` as const,
      path: join(this.directory, name),
    });
    return await describeLogs(fileSystem, names.map(toFile));
  }

  async remove(key: LogKey): Promise<RemoveOutcome> {
    if (!isSession(key)) return await this.#records.remove(key);
    const path = await this.#findFile(getLogId(key));
    return path === undefined ? { kind: "missing" } : await removeLog(this.#ports.fileSystem, path);
  }

  #findFile(id: string): Promise<string | undefined> {
    return findSessionFile(this.#ports.fileSystem, this.directory, id);
  }
}

const isSession = (key: LogKey): boolean => key.startsWith("session/");

/** The file of a session, by the id in its name. A file that was renamed is not found. */
export async function findSessionFile(fs: FileSystem, directory: string, id: string): Promise<string | undefined> {
  const names = await listNames(fs, directory);
  const match = names.find((name) => isSessionFile(name) && idInFileName(name) === id);
  return match === undefined ? undefined : join(directory, match);
}
