/** The sessions that are open in this process, so that a child finds its parent by id: it ends and spends with it. */
import type { AgentSession } from "../agent-session.ts";

const open = new Map<string, AgentSession>();

export const liveSession = (id: string): AgentSession | undefined => open.get(id);

export function addLiveSession(session: AgentSession): void {
  open.set(session.sessionId, session);
}

/** Another one with the same id may have been opened since. */
export function removeLiveSession(session: AgentSession): void {
  if (open.get(session.sessionId) === session) open.delete(session.sessionId);
}
