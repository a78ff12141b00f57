/** What happens in a run goes into the log before anybody acts on it. */
import type { Agent } from "@tau/agent";
import type { Session } from "../session/session.ts";

/**
 * Records an agent's runs in a session until the returned function is called. The agent waits for its listeners, so a
 * prompt is in the log before the model is asked, and a call is journalled before its tool is executed. A log that
 * refuses ends the run with its words: what cannot be remembered is not done.
 */
export function recordRuns(agent: Agent, session: Session): () => void {
  return agent.subscribe(async (event) => {
    if (event.type === "message_end") await session.appendMessage(event.message);
    if (event.type === "tool_execution_start") await session.appendCallStarted(event.toolCallId, event.toolName);
  });
}
