/** Creates the data that commands answer with. Pure, but for what is read from the log. */
import { type Model } from "@tau/ai";
import { roundCost, withoutUndefined, withoutUserinfo } from "@tau/ai/internal";
import type {
  ModelData,
  RoleData,
  SearchData,
  SessionSummaryData,
  StateData,
  StatsData,
  ToolData,
} from "@tau/protocol";
import type { AgentSession } from "../agent-session/agent-session.ts";
import { toJobSummary } from "../agent-session/job-reports.ts";
import { listRoleNames } from "@tau/config/models";
import type { PipelineTool } from "@tau/extensions/internal";
import type { SearchResult } from "../search/index.ts";
import type { SessionEntry } from "../session/entry.ts";
import { isChildSession, type SessionInfo } from "../session/session-info.ts";
import type { HostedSession } from "./hosted-session.ts";

/** Without headers and credentials in addresses: both may hold secrets. */
export function toModelData({ headers: _headers, ...model }: Model): ModelData {
  return { ...model, baseUrl: withoutUserinfo(model.baseUrl) };
}

/** All roles. Only those that have a model are looked up. */
export function listRoles({ modelRegistry: registry }: AgentSession): RoleData[] {
  const roles = registry.getRoles();
  return listRoleNames(roles).map((name): RoleData => {
    if (!Object.hasOwn(roles, name)) return { name };
    const resolution = registry.resolve(`@${name}`);
    if (resolution.kind !== "resolved") return { name, problem: resolution.message };
    const { model, thinkingLevel } = resolution;
    return { name, model: `${model.provider}/${model.id}`, ...(thinkingLevel !== undefined && { thinkingLevel }) };
  });
}

export async function toStateData({ session, view }: HostedSession): Promise<StateData> {
  const { model, thinkingLevel, isStreaming, settings, sessionFile, sessionId, messages, queue, cwd } = session;
  const { modelProblem } = session;
  const sessionName = await session.sessionManager.getSessionName();
  return {
    ...(model && { model: toModelData(model) }),
    thinkingLevel,
    isStreaming,
    isCompacting: view.live.compaction !== undefined,
    steeringMode: settings.steeringMode,
    followUpMode: settings.followUpMode,
    sessionId,
    header: session.sessionManager.getHeader(),
    ...withoutUndefined({ modelProblem, used: session.modelUse, role: session.role, sessionFile, sessionName }),
    cwd,
    directories: [...session.addedDirectories],
    autoCompactionEnabled: settings.compaction.enabled,
    autoRetryEnabled: settings.retry.enabled,
    messageCount: messages.length,
    pendingMessageCount: queue.steering.length + queue.followUps.length,
    contextFiles: session.resourceLoader.resources.contextFiles.map(({ path }) => path),
    sandbox: session.policy.sandbox,
    permissions: session.permissions,
    jobs: session.jobs
      .list()
      .filter(({ ended }) => !ended)
      .map(toJobSummary),
  };
}

export async function toStatsData(session: AgentSession): Promise<StatsData> {
  const { messages, tokens, cost, cacheHitRate, contextUse } = await session.stats();
  const { user, assistant, toolResults, toolCalls } = messages;
  const { sessionFile, sessionId, budgetLeft } = session;
  return {
    ...(sessionFile !== undefined && { sessionFile }),
    sessionId,
    userMessages: user,
    assistantMessages: assistant,
    toolCalls,
    toolResults,
    totalMessages: user + assistant + toolResults,
    tokens,
    cost: roundCost(cost),
    cacheHitRate,
    ...(contextUse && { contextUsage: contextUse }),
    ...(Object.keys(budgetLeft).length > 0 && { budgetLeft }),
  };
}

/** The tools that the model is shown, then those that a layer left out, then all other built-in ones. */
export function listTools({ tools, droppedTools, knownTools, internalTools }: AgentSession): ToolData[] {
  const described = new Map<string, PipelineTool>(knownTools.map((tool) => [tool.name, tool]));
  for (const { name, tool } of droppedTools) if (tool) described.set(name, tool);
  const active = tools.map((tool) => toToolData(tool, { active: true }));
  const reasons = new Map(droppedTools.map(({ name, reason }) => [name, reason]));
  const names = new Set([...reasons.keys(), ...described.keys()]);
  for (const { name } of tools) names.delete(name);
  const hidden = [...names].map((name) => {
    const reason = reasons.get(name) ?? "It is not among the tools of this session.";
    const tool = described.get(name) ?? { name, label: name, description: "" };
    return toToolData(tool, { active: false, reason });
  });
  const internal = internalTools.map((tool) =>
    toToolData(tool, { active: false, reason: "Only other tools call it." }),
  );
  return [...active, ...hidden, ...internal];
}

const toToolData = (
  {
    name,
    label,
    description,
    shows,
    readOnly = false,
  }: Pick<PipelineTool, "name" | "label" | "description"> & Partial<PipelineTool>,
  state: Pick<ToolData, "active" | "reason">,
): ToolData => ({ name, label, description, ...(shows && { shows }), readOnly, ...state });

export function toSessionSummary(info: SessionInfo): SessionSummaryData {
  const { id, path, cwd, firstMessage, messageCount, name, parentSessionPath: parentSession, parentId } = info;
  const startedBy = isChildSession(info) ? (parentId ?? undefined) : undefined;
  const times = { createdAt: info.created.toISOString(), modifiedAt: info.modified.toISOString() };
  return {
    id,
    path,
    cwd,
    firstMessage,
    messageCount,
    ...times,
    ...withoutUndefined({ name, parentSession, startedBy }),
  };
}

export const toSearchData = ({ hits, hasMore }: SearchResult): SearchData => ({
  hits: hits.map(({ session, entryId, author, timeMs, excerpt }) => ({
    session: toSessionSummary(session),
    ...(entryId !== undefined && { entryId }),
    author,
    ...(timeMs > 0 && { timestamp: new Date(timeMs).toISOString() }),
    excerpt,
  })),
  hasMore,
});

/** The user messages of the shown branch that hold text. */
export async function listForkMessages({ sessionManager }: AgentSession): Promise<{ entryId: string; text: string }[]> {
  return (await sessionManager.getBranch()).flatMap((entry) => {
    const text = getUserText(entry);
    return text === undefined || text.trim() === "" ? [] : [{ entryId: entry.id, text }];
  });
}

/** The text of a user message; undefined for any other entry. */
export const getUserText = (entry: SessionEntry): string | undefined =>
  entry.type === "message" && entry.message.role === "user" ? getMessageText(entry.message) : undefined;

/** Null as long as the model has not answered with text. */
export function getLastAnswer({ messages }: AgentSession): string | null {
  const texts = messages.flatMap((message) => (message.role === "assistant" ? getMessageText(message) : []));
  return texts.findLast((text) => text.trim() !== "") ?? null;
}

interface WithContent {
  content: string | readonly { type: string; text?: string }[];
}

/** The text of a message, without images and calls. */
export function getMessageText({ content }: WithContent): string {
  if (typeof content === "string") return content;
  return content.flatMap((block) => (block.type === "text" ? [block.text ?? ""] : [])).join("\n");
}
