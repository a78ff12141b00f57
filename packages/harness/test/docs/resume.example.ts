import { type AgentSession, type AgentSessionParams, createAgentSession, SessionManager } from "@tau/harness";

/** The session of a directory that was used last, or a new one. */
export async function goOn(
  cwd: string,
  params: AgentSessionParams,
  print: (text: string) => void,
): Promise<AgentSession> {
  const sessionManager = await SessionManager.continueRecent(cwd);
  const session = await createAgentSession({ ...params, cwd, sessionManager });
  if (session.readOnly) print("Another process writes this session; it can only be looked at.");
  for (const { message } of session.notices) print(message);
  return session;
}

/** By its id, as `SessionManager.list(cwd)` gives it. */
export const goOnWith = (sessionId: string, params: AgentSessionParams) => createAgentSession({ ...params, sessionId });
