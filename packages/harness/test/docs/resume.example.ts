import { type AgentSession, type AgentSessionParams, createAgentSession, SessionManager } from "@tau/harness";

/** Opens the session of a directory that was used last, or a new one. */
export async function continueLast(
  cwd: string,
  params: AgentSessionParams,
  print: (text: string) => void,
): Promise<AgentSession> {
  const { agentDir } = params; // the sessions are there too
  const sessionManager = await SessionManager.continueRecent(
    cwd,
    undefined,
    agentDir === undefined ? {} : { agentDir },
  );
  const session = await createAgentSession({ ...params, cwd, sessionManager });
  if (session.readOnly) print("Another process writes this session, so it can only be read.");
  for (const { message } of session.notices) print(message);
  return session;
}

/** Opens a session by its id, as in the answer of `SessionManager.list(cwd, undefined, { agentDir })`. */
export const continueById = (sessionId: string, params: AgentSessionParams) =>
  createAgentSession({ ...params, sessionId });
