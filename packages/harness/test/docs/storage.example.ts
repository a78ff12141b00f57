import { type AgentSession, type AgentSessionParams, createAgentSession, SessionManager } from "@tau/harness";
import { createMemoryStorage, type Storage } from "@tau/harness/session";

/** Sessions that live as long as the program. */
export const storage: Storage = createMemoryStorage();

/** Opens the session with this id, or a new one. */
export async function openStored(params: AgentSessionParams & { cwd: string }, id?: string): Promise<AgentSession> {
  const sessionManager =
    id === undefined
      ? SessionManager.create(params.cwd, undefined, { storage })
      : SessionManager.openStored(id, { storage });
  return await createAgentSession({ ...params, sessionManager });
}
