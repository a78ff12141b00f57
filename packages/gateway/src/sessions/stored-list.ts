/** Finds and lists the sessions of a storage. */
import type { SessionManager } from "@tau/harness";
import {
  filterSessions,
  type MovedSession,
  reportUsage,
  type SessionManagerOptions,
  type Storage,
  StoredSessions,
} from "@tau/harness/session";
import type { UsageReportData } from "@tau/protocol";
import { GatewayError } from "../errors.ts";
import type { SessionList, SessionPageOptions, UsageReportOptions } from "./session-list.ts";
import { cutPage, type SessionPage } from "./session-page.ts";

export class StoredList implements SessionList {
  readonly #storage: Storage;
  readonly #agentDir: string;
  readonly #sessions: StoredSessions;

  constructor(storage: Storage, agentDir: string) {
    this.#storage = storage;
    this.#agentDir = agentDir;
    this.#sessions = new StoredSessions(storage);
  }

  has(sessionId: string): Promise<boolean> {
    return this.#sessions.has(sessionId);
  }

  async open(sessionId: string, options: SessionManagerOptions): Promise<SessionManager | undefined> {
    return (await this.has(sessionId)) ? await this.#sessions.open(sessionId, options) : undefined;
  }

  async list(options: SessionPageOptions): Promise<SessionPage> {
    return cutPage(filterSessions(await this.#sessions.list(), options), options);
  }

  restore(sessionId: string): Promise<MovedSession> {
    return this.#sessions.restore(sessionId);
  }

  async search(): Promise<never> {
    const text = "Only sessions in files can be searched, and those of this gateway are elsewhere.";
    throw new GatewayError("unavailable", text);
  }

  reportUsage(options: UsageReportOptions): Promise<UsageReportData> {
    return reportUsage({ agentDir: this.#agentDir, storage: this.#storage, ...options });
  }

  /** Has no effect: each list asks the storage. */
  markChanged(): void {}

  close(): void {}
}
