import type { Agent } from "@tau/agent";
import type { SessionManager } from "@tau/pi/internal";
import { type ContextUsage, countMessages, getContextUsage, type SessionStats } from "./stats.ts";

interface StatisticsParts {
  agent: Agent;
  sessionManager: SessionManager;
}

/** Counts what a session has used until now. */
export class Statistics {
  readonly #parts: StatisticsParts;

  constructor(parts: StatisticsParts) {
    this.#parts = parts;
  }

  getStats(): SessionStats {
    const { agent, sessionManager } = this.#parts;
    return {
      sessionFile: sessionManager.getSessionFile(),
      sessionId: sessionManager.getSessionId(),
      ...countMessages(agent.state.messages, sessionManager.getEntries()),
      contextUsage: this.getContextUsage(),
    };
  }

  /** Undefined if the window of the model is not known. */
  getContextUsage(): ContextUsage | undefined {
    const { agent, sessionManager } = this.#parts;
    const contextWindow = agent.state.model?.contextWindow ?? 0;
    if (contextWindow <= 0) return undefined;
    return getContextUsage(sessionManager.getBranch(), agent.state.messages, contextWindow);
  }
}
