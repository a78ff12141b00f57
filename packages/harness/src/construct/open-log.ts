/** The log that a session is kept in: given, found by its id, or a new one, in memory unless files of the user or a storage are used. */
import type { Closers } from "@tau/ai/internal";
import type { AgentSessionParams } from "./params.ts";
import { HarnessError } from "@tau/protocol";
import { SessionManager } from "../session/session-manager.ts";
import type { SettingsManager } from "@tau/config/settings";
import { checkLog } from "./check-params.ts";
import type { SessionBase } from "./open-services.ts";

type LogBase = SessionBase & { settings: SettingsManager };

/** A log that was passed in belongs to the caller until there is a session that closes it. */
export async function openLog(params: AgentSessionParams, base: LogBase, closers: Closers): Promise<SessionManager> {
  const { sessionManager } = params;
  const given = sessionManager && (await sessionManager);
  if (sessionManager) checkLog({ sessionManager: given });
  const log = await findLog(given, params, base);
  if (log !== given) closers.add(() => log.close());
  return log;
}

async function findLog(
  log: SessionManager | undefined,
  { sessionId, parentSessionId, storage, session }: AgentSessionParams,
  { cwd, agentDir, readsUser, settings, clock, ids }: LogBase,
): Promise<SessionManager> {
  if (log) {
    const isOther = sessionId !== undefined && sessionId !== log.id;
    if (parentSessionId !== undefined && !isOther) log.setParentId(parentSessionId);
    return isOther ? await log.openSession(sessionId) : log;
  }
  const { sessionDir, durability } = settings.get();
  if (storage) {
    const stored = {
      durability,
      clock,
      ids,
      storage,
      ...(parentSessionId !== undefined && { parentId: parentSessionId }),
    };
    if (sessionId !== undefined) return await SessionManager.openStored(sessionId, stored);
    if (session !== undefined) return await SessionManager.continueStored(cwd, session, stored);
    return await SessionManager.create(cwd, undefined, stored);
  }
  // An id alone names one of the user's sessions.
  const options = { ...(readsUser && { agentDir }), durability, clock, ids };
  if (sessionId === undefined) {
    const own = { ...options, ...(parentSessionId !== undefined && { parentId: parentSessionId }) };
    if (!readsUser && sessionDir === undefined) return await SessionManager.inMemory(cwd, own);
    return await SessionManager.create(cwd, sessionDir, own);
  }
  const path = await SessionManager.findById(cwd, sessionId, sessionDir, options);
  if (path !== undefined) return await SessionManager.open(path, options);
  throw new HarnessError("session_not_found", `There is no session ${JSON.stringify(sessionId)} of ${cwd}.`);
}

/** Returns what a session spent before it was opened, which a budget for its life includes. */
export async function spentBefore(session: SessionManager) {
  const { tokens, cost, messages } = await session.getTotals();
  return { tokens: tokens.total, cost, turns: messages.assistant };
}
