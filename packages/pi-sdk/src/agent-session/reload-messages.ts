import type { Agent } from "@tau/agent";
import type { SessionManager } from "@tau/pi/internal";

/** Gives the agent the messages of the session as they are now. */
export function reloadMessages(agent: Agent, sessionManager: SessionManager): void {
  agent.replaceMessages(sessionManager.buildSessionContext().messages);
}
