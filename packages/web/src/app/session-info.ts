/** Facts about a session besides its view: its model, its tools, and what it has cost. */
import type { StateData, StatsData, ToolData } from "@tau/protocol";
import type { RemoteSession } from "@tau/protocol/client";

/** The events after which these facts may be others. */
const refreshing = new Set(["agent_end", "turn_end", "model_changed", "model_used", "compaction_end"]);

export class SessionInfo {
  readonly #session: RemoteSession;
  readonly #listeners = new Set<() => void>();
  state: StateData | undefined;
  stats: StatsData | undefined;
  tools: readonly ToolData[] = [];

  constructor(session: RemoteSession) {
    this.#session = session;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Returns how to stop. */
  start(): () => void {
    const refresh = () => void this.refresh();
    if (this.#session.isLoaded) refresh();
    // What has happened before it is not reported as events.
    const stopSnapshots = this.#session.onSnapshot(refresh);
    const stopEvents = this.#session.onEvent(({ type }) => {
      if (refreshing.has(type)) refresh();
    });
    return () => {
      stopSnapshots();
      stopEvents();
    };
  }

  async refresh(): Promise<void> {
    try {
      const [state, stats, { tools }] = await Promise.all([
        this.#session.call("get_state"),
        this.#session.call("get_session_stats"),
        this.#session.call("get_tools"),
      ]);
      this.state = state;
      this.stats = stats;
      // The same list stays, so that the transcript is not drawn again.
      if (JSON.stringify(tools) !== JSON.stringify(this.tools)) this.tools = tools;
    } catch (error) {
      // The session's own state says why it cannot be used.
      if (!(error instanceof Error) || error.name !== "GatewayClientError") throw error;
    }
    for (const listener of this.#listeners) listener();
  }
}
