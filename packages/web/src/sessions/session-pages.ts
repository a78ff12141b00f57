/** The list of sessions, page by page. The gateway tells what changes in it. */
import type { GatewayClient } from "@tau/protocol/client";
import type { GatewayEventFrame, MethodData } from "@tau/protocol/gateway";
import { describeProblem } from "../app/attempt.ts";

export type SessionRow = MethodData<"sessions.list">["sessions"][number];

/** How many more are shown each time. */
const pageSize = 40;
/** The gateway gives no more at once. */
const maxPageSize = 100;
/** How often it is asked for at most because of what the gateway tells. */
const minRefreshMs = 1_000;
/** Other programs and other machines have sessions too, and ages grow. */
const refreshMs = 60_000;

type Changes = Extract<GatewayEventFrame, { event: "sessions.changed" }>["payload"]["sessions"];

export class SessionPages {
  readonly #client: GatewayClient;
  readonly #listeners = new Set<() => void>();
  #sessions: readonly SessionRow[] = [];
  /** Where the sessions begin that are not shown; undefined if there are none. */
  #cursor: string | undefined;
  /** How many are to be shown, if there are as many. */
  #wanted = pageSize;
  #query = "";
  /** Open questions by session. */
  #questions: ReadonlyMap<string, number> = new Map();
  #problem = "";
  /** The timer of the next refresh that a change has asked for. */
  #refreshing: number | undefined;
  /** Counts what was asked: a late answer to an earlier question is of no interest. */
  #round = 0;

  constructor(client: GatewayClient) {
    this.#client = client;
  }

  get sessions(): readonly SessionRow[] {
    return this.#sessions;
  }

  get hasMore(): boolean {
    return this.#cursor !== undefined;
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

  search(query: string): Promise<void> {
    this.#query = query;
    this.#wanted = pageSize;
    return this.refresh();
  }

  /** Asks for the list again, for as many sessions as are wanted. */
  async refresh(): Promise<void> {
    if (this.#client.state.kind !== "open") return;
    await this.#load([], undefined);
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
    const before = this.#sessions;
    const byId = new Map(changes.map((change) => [change.sessionId, change]));
    const questions = new Map(this.#questions);
    for (const change of changes) questions.set(change.sessionId, "approvals" in change ? change.approvals : 0);
    this.#questions = questions;
    this.#sessions = this.#sessions.map((row) => {
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

  async loadMore(): Promise<void> {
    if (this.#cursor === undefined) return;
    this.#wanted = this.#sessions.length + pageSize;
    await this.#load(this.#sessions, this.#cursor);
  }

  /** Asks for what comes after the sessions that are known, until there are as many as are wanted. */
  async #load(known: readonly SessionRow[], from: string | undefined): Promise<void> {
    const round = ++this.#round;
    const query = this.#query.trim();
    try {
      let [sessions, cursor] = [known, from];
      do {
        const page = await this.#client.call("sessions.list", {
          all: true,
          limit: Math.min(this.#wanted - sessions.length, maxPageSize),
          ...(query !== "" && { query }),
          ...(cursor !== undefined && { cursor }),
        });
        if (round !== this.#round) return;
        sessions = [...sessions, ...page.sessions];
        cursor = page.cursor;
      } while (cursor !== undefined && sessions.length < this.#wanted);
      this.#sessions = sessions;
      this.#cursor = cursor;
      this.#problem = "";
    } catch (error) {
      if (round !== this.#round) return;
      this.#problem = describeProblem(error);
    }
    this.#emit();
  }

  #emit(): void {
    for (const listener of this.#listeners) listener();
  }
}
