/** A list of sessions that arrives in pages. While one page is on its way, only the last wish is kept. */
import type { CommandParams, SessionSummaryData } from "@tau/protocol";
import type { SessionClient } from "./session-client.ts";

export type SessionQuery = Required<Pick<CommandParams<"list_sessions">, "query" | "all" | "named" | "sort">>;

const pageSize = 100;

export class SessionPages {
  readonly #client: SessionClient;
  readonly #onChange: (error?: unknown) => void;
  sessions: readonly SessionSummaryData[] = [];
  /** Whether something is on its way. */
  isLoading = false;
  #query: SessionQuery = { query: "", all: false, named: false, sort: "modified" };
  #cursor: string | undefined;
  /** Whether what is on its way is no longer wanted. */
  #isStale = false;
  /** Resolves when nothing is on its way any more. */
  #fetching: Promise<void> = Promise.resolve();
  /** Whether `sessions` are those of `query`. */
  #isCurrent = false;

  constructor(client: SessionClient, onChange: (error?: unknown) => void) {
    this.#client = client;
    this.#onChange = onChange;
  }

  get query(): SessionQuery {
    return this.#query;
  }

  get hasMore(): boolean {
    return this.#cursor !== undefined;
  }

  /** Whether `sessions` are those of `query`, and not those of the query before. */
  get isCurrent(): boolean {
    return this.#isCurrent;
  }

  /** Lists from the beginning. Resolves when the list is there, or could not be read. */
  async load(change: Partial<SessionQuery> = {}): Promise<void> {
    this.#query = { ...this.#query, ...change };
    this.#isStale = true;
    this.#isCurrent = false;
    if (!this.isLoading) this.#fetching = this.#fetch();
    await this.#fetching;
  }

  /** The next page, if there is one. */
  async loadMore(): Promise<void> {
    if (!this.isLoading && this.hasMore) this.#fetching = this.#fetch();
    await this.#fetching;
  }

  async #fetch(): Promise<void> {
    this.isLoading = true;
    let error: unknown;
    do {
      const isFirst = this.#isStale;
      this.#isStale = false;
      error = await this.#fetchPage(isFirst).catch((reason: unknown) => reason);
    } while (this.#isStale);
    this.isLoading = false;
    this.#onChange(error);
  }

  async #fetchPage(isFirst: boolean): Promise<void> {
    const cursor = isFirst ? undefined : this.#cursor;
    const params = { ...this.#query, limit: pageSize, ...(cursor !== undefined && { cursor }) };
    const page = await this.#client.execute({ type: "list_sessions", ...params });
    if (this.#isStale) return;
    this.sessions = isFirst ? page.sessions : [...this.sessions, ...page.sessions];
    this.#cursor = page.cursor;
    this.#isCurrent = true;
  }
}
