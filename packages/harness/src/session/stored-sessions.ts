/** The sessions of a storage: lists, finds, renames, deletes and restores them. */
import { closeAfter } from "@tau/ai/internal";
import { HarnessError } from "@tau/protocol";
import { nodeFileSystem } from "@tau/tools/platform";
import { getLogId, type LogKey, type Storage, type StoredLog } from "@tau/tools/storage";
import { customTypes } from "./entry.ts";
import { findSessionFile, getSessionDirectory } from "./file-storage.ts";
import { compareSessions } from "./filter-sessions.ts";
import { pickSession } from "./find-session.ts";
import { readOnlyError } from "./read-only.ts";
import { isSessionId } from "./session-directory.ts";
import type { SessionInfo } from "./session-info.ts";
import { SessionManager, type SessionManagerOptions } from "./session-manager.ts";
import { type MovedSession, restoreSession, trashSession } from "./trash.ts";

interface Described {
  /** Differs for each state of the log. */
  stamp: string;
  info: SessionInfo | undefined;
}

/** How many descriptions are kept for the next list. */
const maxDescribed = 10_000;

/** A list would otherwise read the beginning and the end of each log. */
const described = new WeakMap<Storage, Map<LogKey, Described>>();

/** A deleted session keeps its log, so that it can be restored; `storage.remove` removes one for good. */
export class StoredSessions {
  readonly #storage: Storage;

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  /** Whether there is a session with this id that is not deleted. */
  async has(id: string): Promise<boolean> {
    const info = await SessionManager.describeStored(id, this.#storage);
    return info !== undefined && !info.isDeleted;
  }

  /** The last used first; with `deleted`, those that were deleted. */
  async list({ deleted = false }: { deleted?: boolean } = {}): Promise<SessionInfo[]> {
    const infos: SessionInfo[] = [];
    for (const log of await this.#storage.list("session")) {
      const info = await this.#describe(log);
      if (info && (info.isDeleted ?? false) === deleted) infos.push(info);
    }
    return infos.sort(compareSessions.modified);
  }

  /** The session with this id or path, or the only one whose id begins so. Throws `session_not_found`. */
  async find(reference: string, options: { deleted?: boolean } = {}): Promise<Pick<SessionInfo, "id" | "path">> {
    // A whole id needs no list.
    const exact = isSessionId(reference) && (await SessionManager.describeStored(reference, this.#storage));
    if (exact && (exact.isDeleted ?? false) === (options.deleted ?? false)) return exact;
    const infos = await this.list(options);
    const match = infos.find(({ path }) => path === reference) ?? pickSession(reference, infos);
    if (match) return match;
    const what = options.deleted ? "deleted session" : "session";
    throw new HarnessError("session_not_found", `There is no ${what} ${JSON.stringify(reference.slice(0, 128))}.`);
  }

  /** Opens a session that is not deleted; see `SessionManager.openStored`. */
  open(id: string, options: Omit<SessionManagerOptions, "storage"> = {}): Promise<SessionManager> {
    return SessionManager.openStored(id, { ...options, storage: this.#storage });
  }

  /** Throws `read_only` while another process writes the session, as do `delete` and `restore`. */
  async rename(id: string, name: string): Promise<void> {
    const session = await this.open(id);
    await closeAfter(session, async () => {
      mustBeWritable(session);
      await session.appendSessionInfo(name.trim());
    });
  }

  /** The session is in no list any more, and cannot be opened until it is restored. */
  async delete(id: string): Promise<MovedSession> {
    const file = await this.#findFile(id);
    return file === undefined ? await this.#setDeleted(id, true) : await trashSession(file);
  }

  /** `reference` is the id of a deleted session, or the unique beginning of its id. */
  async restore(reference: string): Promise<MovedSession> {
    const directory = getSessionDirectory(this.#storage);
    if (directory !== undefined)
      return await restoreSession(reference, { cwd: directory, agentDir: directory, directory });
    const { id } = await this.find(reference, { deleted: true });
    return await this.#setDeleted(id, false);
  }

  async #setDeleted(id: string, isDeleted: boolean): Promise<MovedSession> {
    const session = await SessionManager.openStored(id, { storage: this.#storage, deleted: !isDeleted });
    return await closeAfter(session, async () => {
      mustBeWritable(session);
      // The entry is durable before the lease is released, so nobody opens the session in between.
      await session.appendCustomEntry(customTypes.deleted, { isDeleted });
      return { id, path: session.logName };
    });
  }

  async #findFile(id: string): Promise<string | undefined> {
    const directory = getSessionDirectory(this.#storage);
    return directory === undefined ? undefined : await findSessionFile(nodeFileSystem, directory, id);
  }

  async #describe({ key, size, modifiedMs }: StoredLog): Promise<SessionInfo | undefined> {
    const all = described.get(this.#storage) ?? new Map<LogKey, Described>();
    described.set(this.#storage, all);
    const stamp = `${size}:${modifiedMs}`;
    const known = all.get(key);
    all.delete(key);
    const info = known?.stamp === stamp ? known.info : await this.#read(key, modifiedMs);
    all.set(key, { stamp, info });
    if (all.size > maxDescribed) all.delete(all.keys().next().value!);
    return info;
  }

  async #read(key: LogKey, modifiedMs: number): Promise<SessionInfo | undefined> {
    const info = await SessionManager.describeStored(getLogId(key), this.#storage);
    return info && { ...info, modified: new Date(modifiedMs) };
  }
}

function mustBeWritable({ id, readOnly }: SessionManager): void {
  if (readOnly) throw readOnlyError(id, readOnly);
}
