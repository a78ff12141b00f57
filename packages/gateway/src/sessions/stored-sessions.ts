/** Finds and lists the sessions of a storage. */
import { SessionManager } from "@tau/harness";
import {
  compareSessions,
  filterSessions,
  isStored,
  type SessionInfo,
  type SessionManagerOptions,
  type Storage,
  type StoredLog,
} from "@tau/harness/session";
import { getLogId } from "@tau/tools/storage";
import type { SessionList, SessionPageOptions } from "./session-list.ts";
import { needsFiles } from "./needs-files.ts";
import { cutPage, type SessionPage } from "./session-page.ts";

/** How many descriptions are kept for the next list. */
const maxDescribed = 10_000;

export class StoredSessions implements SessionList {
  readonly #storage: Storage;
  readonly #described = new Map<string, { stamp: string; info: SessionInfo | undefined }>();

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  has(sessionId: string): Promise<boolean> {
    return isStored(this.#storage, sessionId);
  }

  async open(sessionId: string, options: SessionManagerOptions): Promise<SessionManager | undefined> {
    if (!(await this.has(sessionId))) return undefined;
    return await SessionManager.openStored(sessionId, { ...options, storage: this.#storage });
  }

  async list(options: SessionPageOptions): Promise<SessionPage> {
    const infos: SessionInfo[] = [];
    for (const log of await this.#storage.list("session")) {
      const info = await this.#describe(log);
      if (info) infos.push(info);
    }
    return cutPage(filterSessions(infos.sort(compareSessions.modified), options), options);
  }

  async search(): Promise<never> {
    throw needsFiles("searched");
  }

  async reportUsage(): Promise<never> {
    throw needsFiles("counted");
  }

  async #describe({ key, size, modifiedMs }: StoredLog): Promise<SessionInfo | undefined> {
    const stamp = `${size}:${modifiedMs}`;
    const known = this.#described.get(key);
    if (known?.stamp === stamp) return known.info;
    const info = await SessionManager.describeStored(getLogId(key), this.#storage);
    const described = { stamp, info: info && { ...info, modified: new Date(modifiedMs) } };
    this.#described.delete(key);
    this.#described.set(key, described);
    if (this.#described.size > maxDescribed) this.#described.delete(this.#described.keys().next().value!);
    return described.info;
  }

  /** Has no effect: each list asks the storage. */
  markChanged(): void {}

  findLastDirectory(): undefined {
    return undefined;
  }

  close(): void {}
}
