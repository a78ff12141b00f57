/** The list of sessions beside the conversation. The gateway reports what changes in it. */
import type { GatewayClient } from "@tau/protocol/client";
import type { GatewayEventFrame, MethodData } from "@tau/protocol/gateway";
import { MessageSearch, SessionPages } from "@tau/protocol/surface";
import { describeProblem } from "../app/attempt.ts";

export type SessionRow = MethodData<"sessions.list">["sessions"][number];

/** How many more are shown each time. */
const pageSize = 40;
/** The list is read again at most this often because of what the gateway reports. */
const minRefreshMs = 1_000;
/** Other programs and other machines have sessions too, and ages grow. */
const refreshMs = 60_000;

type Changes = Extract<GatewayEventFrame, { event: "sessions.changed" }>["payload"]["sessions"];

export class SessionSidebar {
  readonly #client: GatewayClient;
  readonly #listeners = new Set<() => void>();
  readonly #pages: SessionPages<SessionRow>;
  readonly messages: MessageSearch;
  #searchesMessages = false;
  /** Open questions by session. */
  #questions: ReadonlyMap<string, number> = new Map();
  #problem = "";
  /** The timer of the next refresh that a change has asked for. */
  #refreshing: number | undefined;

  constructor(client: GatewayClient) {
    this.#client = client;
    this.#pages = new SessionPages({
      fetchPage: (params) => client.call("sessions.list", params),
      onChange: (error) => {
        this.#problem = error === undefined ? "" : describeProblem(error);
        this.#emit();
      },
      pageSize,
      query: { all: true },
    });
    this.messages = new MessageSearch({
      search: ({ text }) => client.call("sessions.search", { text, limit: 50 }),
      onChange: (error) => {
        this.#problem = error === undefined ? "" : describeProblem(error);
        this.#emit();
      },
    });
  }

  get sessions(): readonly SessionRow[] {
    return this.#pages.sessions;
  }

  get hasMore(): boolean {
    return this.#pages.hasMore;
  }

  get problem(): string {
    return this.#problem;
  }

  countQuestions(sessionId: string): number {
    return this.#questions.get(sessionId) ?? 0;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Returns how to stop. */
  start(): () => void {
    const stopStates = this.#client.onState(({ kind }) => kind === "open" && void this.#watch());
    const stopEvents = this.#client.onGatewayEvent((frame) => {
      if (frame.event === "sessions.changed") this.#takeChanges(frame.payload.sessions);
    });
    const onTime = () => document.visibilityState === "visible" && void this.refresh();
    const timer = setInterval(onTime, refreshMs);
    document.addEventListener("visibilitychange", onTime);
    return () => {
      stopStates();
      stopEvents();
      clearInterval(timer);
      clearTimeout(this.#refreshing);
      document.removeEventListener("visibilitychange", onTime);
    };
  }

  /** Whether what is typed is searched for in messages, and not in the names of sessions. */
  get searchesMessages(): boolean {
    return this.#searchesMessages;
  }

  async setSearchesMessages(searchesMessages: boolean, query: string): Promise<void> {
    this.#searchesMessages = searchesMessages;
    this.#emit();
    await this.search(query);
  }

  async search(query: string): Promise<void> {
    if (!this.#searchesMessages) return await this.#pages.load({ query: query.trim() });
    const searching = this.messages.load({ text: query.trim() });
    this.#emit();
    await searching;
  }

  async loadMore(): Promise<void> {
    await this.#pages.loadMore();
  }

  /** Reads the list and the open questions again. */
  async refresh(): Promise<void> {
    if (this.#client.state.kind !== "open") return;
    await this.#pages.refresh();
    if (!this.#client.hello?.scopes.includes("approve")) return;
    try {
      const { approvals } = await this.#client.call("approvals.list");
      const counts = new Map<string, number>();
      for (const { sessionId } of approvals) counts.set(sessionId, (counts.get(sessionId) ?? 0) + 1);
      this.#questions = counts;
    } catch (error) {
      this.#problem = describeProblem(error);
    }
    this.#emit();
  }

  async #watch(): Promise<void> {
    try {
      await this.#client.call("sessions.watch");
      await this.refresh();
    } catch (error) {
      this.#problem = describeProblem(error);
      this.#emit();
    }
  }

  /** Shows what is known at once. Where that is not enough, because the order may be another one, the list is asked for. */
  #takeChanges(changes: Changes): void {
    const before = this.#pages.sessions;
    const byId = new Map(changes.map((change) => [change.sessionId, change]));
    const questions = new Map(this.#questions);
    for (const change of changes) questions.set(change.sessionId, "approvals" in change ? change.approvals : 0);
    this.#questions = questions;
    this.#pages.update((row) => {
      const change = byId.get(row.id);
      if (!change || !("status" in change)) return row;
      return { ...row, status: change.status, ...(change.name !== undefined && { name: change.name }) };
    });
    this.#emit();
    const isEnough = changes.every((change) => {
      const row = before.find(({ id }) => id === change.sessionId);
      // A session that works is the first one, and one that is closed may have been cut.
      return row && "status" in change && (change.status === row.status || change.status === "idle");
    });
    if (isEnough) return;
    this.#refreshing ??= window.setTimeout(() => {
      this.#refreshing = undefined;
      if (document.visibilityState === "visible") void this.refresh();
    }, minRefreshMs);
  }

  #emit(): void {
    for (const listener of this.#listeners) listener();
  }
}
