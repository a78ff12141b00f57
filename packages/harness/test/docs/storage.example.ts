import { type AgentSession, type AgentSessionParams, createAgentSession, SessionManager } from "@tau/harness";
import { createMemoryStore, type LogStore, MemoryLog, type SessionStorage } from "@tau/harness/session";

/** Sessions that live as long as the program. One in a database returns stores that read and append its rows. */
export function createStorage(logs: Map<string, MemoryLog>): SessionStorage {
  const openStore = (id: string, log: MemoryLog): LogStore => {
    logs.set(id, log);
    return createMemoryStore({ name: id, log });
  };
  return {
    directory: undefined, // they are no files
    createStore: ({ id }) => openStore(id, logs.get(id) ?? new MemoryLog()),
    createWhole: async ({ id }, bytes) => openStore(id, new MemoryLog(bytes)),
    findStore: async (id) => {
      const log = logs.get(id);
      return log && openStore(id, log);
    },
  };
}

/** Opens the session with this id, or a new one. */
export async function openStored(
  storage: SessionStorage,
  params: AgentSessionParams & { cwd: string },
  id?: string,
): Promise<AgentSession> {
  const sessionManager =
    id === undefined
      ? SessionManager.create(params.cwd, undefined, { storage })
      : SessionManager.openStored(id, { storage });
  return await createAgentSession({ ...params, sessionManager });
}
