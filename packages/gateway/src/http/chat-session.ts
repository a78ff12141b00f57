/** The session that a chat completion is said in: a new one, or one that the client names. */
import { rm } from "node:fs/promises";
import type { Clock } from "@tau/ai";
import { createAssistantMessage } from "@tau/ai/internal";
import type { AgentSession, SessionManager } from "@tau/harness";
import { listNamedAgents } from "@tau/config/resources";
import type { Client } from "../client.ts";
import { GatewayError } from "../errors.ts";
import type { GatewayParts } from "../parts.ts";
import type { OpenSession } from "../sessions/open-session.ts";
import type { ChatMessage, ChatRequest } from "./chat-request.ts";

export const agentPrefix = "agent:";

export interface ChatSession {
  open: OpenSession;
  /** It was begun for this request. */
  isNew: boolean;
}

/** Throws `not_found` for a session, and `model_not_found` for a model or an agent, that does not exist. */
export async function openChatSession(
  { parts, client }: { parts: GatewayParts; client: Client },
  { model, history }: Pick<ChatRequest, "history"> & { model?: string | undefined },
  sessionId: string | undefined,
): Promise<ChatSession> {
  const agentName = model?.startsWith(agentPrefix) ? model.slice(agentPrefix.length) : undefined;
  if (sessionId !== undefined) {
    const open = await parts.sessions.open(sessionId, client.deviceId);
    await chooseModel(open.hosted.session, { model, agentName });
    return { open, isNew: false };
  }
  // Before anything is written.
  if (agentName !== undefined && !(await listNamedAgents(parts.agentDir)).includes(agentName)) {
    throw createModelError(model!);
  }
  const open = await parts.sessions.create(parts.sessions.defaultDirectory, {
    deviceId: client.deviceId,
    ...(agentName !== undefined && { agentName }),
    ...(history.length > 0 && { fill: (log) => writeHistory(log, history, parts.clock) }),
  });
  const { session } = open.hosted;
  try {
    await chooseModel(session, { model, agentName });
  } catch (error) {
    await parts.sessions.close(session.sessionId);
    // Nobody knows of it.
    if (session.sessionFile !== undefined) await rm(session.sessionFile, { force: true });
    throw error;
  }
  return { open, isNew: true };
}

/** A model applies to the session from then on; without one, it keeps its own. An agent has to be the session's own. */
async function chooseModel(
  session: AgentSession,
  { model, agentName }: { model: string | undefined; agentName: string | undefined },
): Promise<void> {
  if (model === undefined) return;
  if (agentName !== undefined) {
    if (session.sessionManager.agentName === agentName) return;
    throw new GatewayError(
      "invalid_parameters",
      `The session ${session.sessionId} has another agent than ${agentName}.`,
    );
  }
  const isNamed = ({ provider, id }: { provider: string; id: string }) => `${provider}/${id}` === model;
  if (session.model && isNamed(session.model)) return;
  const known = session.modelRegistry.getAvailable().find(isNamed);
  if (!known) throw createModelError(model);
  await session.setModel(known);
}

const createModelError = (model: string): GatewayError =>
  new GatewayError(
    "model_not_found",
    `There is no model or agent ${JSON.stringify(model.slice(0, 128))} that can be used. GET /v1/models lists them.`,
  );

/** Writes messages from before, as if they had been sent here. */
async function writeHistory(log: SessionManager, history: readonly ChatMessage[], clock: Clock): Promise<void> {
  for (const { role, text, images } of history) {
    const timestamp = clock.now();
    const content = [{ type: "text" as const, text }];
    if (role === "system") {
      // The client's own instructions come after ours, and take nothing of them away.
      await log.appendCustomMessageEntry("client_instructions", `Instructions of the client:\n\n${text}`, true);
    } else if (role === "user") {
      await log.appendMessage({ role, content: [...content, ...images], timestamp });
    } else {
      const message = createAssistantMessage({ api: "client", provider: "client", id: "client" }, timestamp);
      await log.appendMessage({ ...message, content });
    }
  }
}
