/** What commands answer with, in the shapes that pi's clients know. */
import type { AgentSession, SessionEntry } from "@tau/harness";
import { type Model, withoutUserinfo } from "@tau/ai";
import { dirname, relative } from "node:path";
import type { RpcHost } from "./host.ts";
import { getWords } from "./pi-events.ts";

/** Headers and addresses may hold secrets, and nobody who chooses a model needs them. */
export function modelData({ headers: _headers, ...model }: Model): Omit<Model, "headers"> {
  return { ...model, baseUrl: withoutUserinfo(model.baseUrl) };
}

export async function stateData({ session, isCompacting }: RpcHost) {
  const { model, thinkingLevel, isStreaming, settings, sessionFile, sessionId, messages, queue } = session;
  const sessionName = await session.sessionManager.getSessionName();
  return {
    ...(model && { model: modelData(model) }),
    thinkingLevel,
    isStreaming,
    isCompacting,
    steeringMode: settings.steeringMode,
    followUpMode: settings.followUpMode,
    ...(sessionFile !== undefined && { sessionFile }),
    sessionId,
    ...(sessionName !== undefined && { sessionName }),
    autoCompactionEnabled: settings.compaction.enabled,
    autoRetryEnabled: settings.retry.enabled,
    messageCount: messages.length,
    pendingMessageCount: queue.steering.length + queue.followUps.length,
  };
}

export async function statsData(session: AgentSession) {
  const { messages, tokens, cost, cacheHitRate, contextUse } = await session.stats();
  const { user, assistant, toolResults, toolCalls } = messages;
  const { sessionFile, sessionId } = session;
  return {
    ...(sessionFile !== undefined && { sessionFile }),
    sessionId,
    userMessages: user,
    assistantMessages: assistant,
    toolCalls,
    toolResults,
    totalMessages: user + assistant + toolResults,
    tokens,
    cost,
    cacheHitRate,
    ...(contextUse && { contextUsage: contextUse }),
  };
}

/** What can be called with a slash. */
export function commandsData({ resourceLoader, settings }: AgentSession, cwd: string) {
  const { promptTemplates, skills } = resourceLoader.resources;
  const prompts = promptTemplates.map(({ name, description, filePath }) => ({
    name,
    description,
    source: "prompt",
    sourceInfo: sourceInfo(filePath, cwd),
  }));
  if (!settings.enableSkillCommands) return prompts;
  const called = skills.map(({ name, description, filePath, baseDir }) => ({
    name: `skill:${name}`,
    description,
    source: "skill",
    sourceInfo: { ...sourceInfo(filePath, cwd), baseDir },
  }));
  return [...prompts, ...called];
}

function sourceInfo(path: string, cwd: string) {
  const isOfProject = !relative(cwd, dirname(path)).startsWith("..");
  return { path, source: "local", scope: isOfProject ? "project" : "user", origin: "top-level" };
}

/** What a person said, with something in it to say again. */
export async function forkMessages(session: AgentSession): Promise<{ entryId: string; text: string }[]> {
  const branch = await session.sessionManager.getBranch();
  return branch.flatMap((entry) => {
    const text = saidIn(entry);
    return text === undefined || text === "" ? [] : [{ entryId: entry.id, text }];
  });
}

/** The words of a person's message; undefined for any other entry. */
export function saidIn(entry: SessionEntry): string | undefined {
  return entry.type === "message" && entry.message.role === "user" ? getWords(entry.message) : undefined;
}

/** Null as long as the model has said nothing. */
export function lastAnswer({ messages }: AgentSession): string | null {
  for (const message of messages.toReversed()) {
    if (message.role !== "assistant") continue;
    const text = message.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("");
    if (text.trim() !== "") return text;
  }
  return null;
}
