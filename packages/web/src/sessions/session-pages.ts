/** The list of sessions, page by page. It is asked for again now and then: the gateway does not tell of other sessions. */
import type { GatewayClient } from "@tau/protocol/client";
import type { MethodData } from "@tau/protocol/gateway";

export type SessionRow = MethodData<"sessions.list">["sessions"][number];

const pageSize = 40;
const refreshMs = 10_000;

export class SessionPages {
  readonly #client: GatewayClient;
  readonly #listeners = new Set<() => void>();
  #sessions: readonly SessionRow[] = [];
  #cursor: string | undefined;
  #query = "";
  /** Open questions by session. */
  #questions: ReadonlyMap<string, number> = new Map();
  #problem = "";
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
    const stop = this.#client.onState(({ kind }) => kind === "open" && void this.refresh());
    const timer = setInterval(() => document.visibilityState === "visible" && void this.refresh(), refreshMs);
    return () => {
      stop();
      clearInterval(timer);
    };
  }

  search(query: string): Promise<void> {
    this.#query = query;
    return this.refresh();
  }

  /** As many as are shown, from the beginning. */
  async refresh(): Promise<void> {
    if (this.#client.state.kind !== "open") return;
    await this.#load(undefined, Math.max(pageSize, this.#sessions.length));
    if (!this.#client.hello?.scopes.includes("approve")) return;
    const { approvals } = await this.#client.call("approvals.list");
    const counts = new Map<string, number>();
    for (const { sessionId } of approvals) counts.set(sessionId, (counts.get(sessionId) ?? 0) + 1);
    this.#questions = counts;
    this.#emit();
  }

  async loadMore(): Promise<void> {
    if (this.#cursor !== undefined) await this.#load(this.#cursor, pageSize);
  }

  async #load(cursor: string | undefined, limit: number): Promise<void> {
    const round = ++this.#round;
    const query = this.#query.trim();
    try {
      const page = await this.#client.call("sessions.list", {
        all: true,
        limit,
        ...(query !== "" && { query }),
        ...(cursor !== undefined && { cursor }),
      });
      if (round !== this.#round) return;
      this.#sessions = cursor === undefined ? page.sessions : [...this.#sessions, ...page.sessions];
      this.#cursor = page.cursor;
      this.#problem = "";
    } catch (error) {
      this.#problem = error instanceof Error ? error.message : String(error);
    }
    this.#emit();
  }

  #emit(): void {
    for (const listener of this.#listeners) listener();
  }
}
