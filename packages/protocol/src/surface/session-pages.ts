/** A list of sessions for people that arrives in pages, without those that work for another one. While one page is on its way, only the last wish is kept. */
import type { CommandParams } from "../command.ts";
import type { SessionSummaryData } from "../command-data.ts";

export type SessionQuery = Required<
  Pick<CommandParams<"list_sessions">, "query" | "all" | "named" | "children" | "sort">
>;

export const sessionSorts = ["modified", "created", "name"] as const satisfies readonly SessionQuery["sort"][];

export interface SessionPage<Session> {
  readonly sessions: readonly Session[];
  readonly cursor?: string;
}

export interface SessionPagesOptions<Session> {
  fetchPage: (params: SessionQuery & { limit: number; cursor?: string }) => Promise<SessionPage<Session>>;
  /** Called when nothing is on its way any more; `error` says why the last page could not be read. */
  onChange: (error?: unknown) => void;
  /** How many sessions are shown at first, and how many more each time. */
  pageSize: number;
  query?: Partial<SessionQuery>;
}

/** A host gives no more at once. */
const maxPageSize = 100;

export class SessionPages<Session> {
  readonly #options: SessionPagesOptions<Session>;
  #sessions: readonly Session[] = [];
  #query: SessionQuery;
  /** Where the sessions begin that are not shown; undefined if there are none. */
  #cursor: string | undefined;
  /** How many are to be shown, if there are as many. */
  #wanted: number;
  /** Whether the list is to be read from the beginning, after what is on its way. */
  #isStale = false;
  /** Resolves when nothing is on its way any more; undefined if nothing is. */
  #fetching: Promise<void> | undefined;
  #isCurrent = false;

  constructor(options: SessionPagesOptions<Session>) {
    this.#options = options;
    this.#query = { query: "", all: false, named: false, children: false, sort: "modified", ...options.query };
    this.#wanted = options.pageSize;
  }

  get sessions(): readonly Session[] {
    return this.#sessions;
  }

  get query(): SessionQuery {
    return this.#query;
  }

  get hasMore(): boolean {
    return this.#cursor !== undefined;
  }

  /** Whether something is on its way. */
  get isLoading(): boolean {
    return this.#fetching !== undefined;
  }

  /** Whether `sessions` are those of `query`, and not those of the query before. */
  get isCurrent(): boolean {
    return this.#isCurrent;
  }

  /** Lists the first page of another query. Resolves when the list is there, or could not be read. */
  async load(change: Partial<SessionQuery> = {}): Promise<void> {
    this.#query = { ...this.#query, ...change };
    this.#wanted = this.#options.pageSize;
    this.#isCurrent = false;
    await this.refresh();
  }

  /** Lists as many sessions as are wanted again, from the beginning. */
  async refresh(): Promise<void> {
    this.#isStale = true;
    await (this.#fetching ??= this.#fetch());
  }

  /** Adds the next page, if there is one. */
  async loadMore(): Promise<void> {
    if (!this.isLoading && this.hasMore) {
      this.#wanted = this.#sessions.length + this.#options.pageSize;
      this.#fetching = this.#fetch();
    }
    await this.#fetching;
  }

  /** Changes sessions that are shown, until the list is read again. */
  update(change: (session: Session) => Session): void {
    this.#sessions = this.#sessions.map(change);
  }

  async #fetch(): Promise<void> {
    let error: unknown;
    do {
      const isFirst = this.#isStale;
      this.#isStale = false;
      error = await this.#read(isFirst).catch((reason: unknown) => reason);
    } while (this.#isStale);
    this.#fetching = undefined;
    this.#options.onChange(error);
  }

  /** Reads pages until there are as many sessions as are wanted. */
  async #read(isFirst: boolean): Promise<void> {
    let sessions = isFirst ? [] : this.#sessions;
    let cursor = isFirst ? undefined : this.#cursor;
    do {
      const limit = Math.min(this.#wanted - sessions.length, maxPageSize);
      const page = await this.#options.fetchPage({ ...this.#query, limit, ...(cursor !== undefined && { cursor }) });
      if (this.#isStale) return;
      sessions = [...sessions, ...page.sessions];
      cursor = page.cursor;
    } while (cursor !== undefined && sessions.length < this.#wanted);
    this.#sessions = sessions;
    this.#cursor = cursor;
    this.#isCurrent = true;
  }
}

/** The name of a session, else its first message, else a note that it has none. */
export const getSessionTitle = ({ name, firstMessage }: Pick<SessionSummaryData, "name" | "firstMessage">): string =>
  name ?? (firstMessage.trim() || "(no messages)");
