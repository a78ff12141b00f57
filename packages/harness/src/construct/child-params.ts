/** The parameters of a session that another one starts: at most the authority of its parent. */
import { resolve } from "node:path";
import type { ChildOptions } from "@tau/extensions";
import { withoutUndefined } from "@tau/ai/internal";
import type { NamedAgent, ResourceLoader } from "@tau/config/resources";
import { HarnessError } from "@tau/protocol";
import { isWithin } from "@tau/tools/platform";
import { createNameMatcher } from "@tau/policy/internal";
import type { AgentSession } from "../agent-session/agent-session.ts";
import type { LiveSessions } from "../agent-session/live-sessions.ts";
import { resolveAgentModel } from "../agent-session/session-agent.ts";
import { bothAllow } from "../agent-session/tools-and-prompt.ts";
import type { SessionManager } from "../session/session-manager.ts";
import type { AgentSessionParams } from "./params.ts";

interface ChildParts {
  parent: AgentSession;
  sessions: LiveSessions;
  /** Opens the resources of an agent for a log that has no agent yet, or this one. */
  openAgent: (agentName: string, log: SessionManager) => Promise<ResourceLoader>;
}

export async function createChildParams(
  params: AgentSessionParams,
  { parent, sessions, openAgent }: ChildParts,
  options: ChildOptions,
): Promise<AgentSessionParams> {
  const { name, tools, excludedTools, sessionId, systemPrompt, appendSystemPrompt, budgets } = options;
  const { sessionManager: log } = parent;
  const cwd = resolve(parent.cwd, options.cwd ?? "");
  if (params.isolation === "tenant" && !isWithin(parent.cwd, cwd))
    throw new HarnessError(
      "denied",
      `A child of a tenant's session cannot work in ${cwd}: it is outside ${parent.cwd}.`,
    );
  const { systemPrompt: parentPrompt, agentName: _agent, ...inherited } = withoutOwn(params);
  const sessionManager = await (sessionId === undefined
    ? log.createSession({ parentId: log.id, ...(options.cwd !== undefined && { cwd }) })
    : log.openSession(sessionId));
  const parentAgent = parent.resourceLoader.resources.agent;
  // A child that is continued keeps its agent.
  const agentName = options.agentName ?? sessionManager.agentName;
  const isSameAgent = agentName === undefined || agentName === parentAgent?.name;
  const resourceLoader = isSameAgent
    ? parent.resourceLoader
    : await openAgent(agentName, sessionManager).catch(async (error: unknown) => {
        await sessionManager.close();
        throw error;
      });
  const ownAgent = isSameAgent ? undefined : resourceLoader.resources.agent;
  // An agent of its own has a prompt of its own, or the default one.
  const inheritedPrompt = isSameAgent ? parentPrompt : undefined;
  const limits = limitToParent(params, parentAgent);
  const { addedDirectories } = parent;
  return {
    ...inherited,
    ...limits,
    cwd,
    projectDirectory: params.projectDirectory ?? parent.cwd,
    settingsManager: parent.settingsManager,
    authStorage: parent.authStorage,
    modelRegistry: parent.modelRegistry,
    resourceLoader,
    ...chooseChildModel(parent, ownAgent, options),
    sessionManager,
    parentSessionId: log.id,
    sessions,
    // It follows its parent: one that begins in plan mode has left it when the parent has.
    ...(params.permissionMode === "plan" && {
      permissionMode: parent.permissions.afterPlan ?? parent.permissions.mode,
    }),
    // With those that a person has added until now.
    ...(addedDirectories.length > 0 && { additionalDirectories: addedDirectories }),
    ...(tools && { allowedTools: limitTools(tools, limits.allowedTools) }),
    ...(excludedTools && { excludedTools: [...(limits.excludedTools ?? []), ...excludedTools] }),
    // Where nobody answers the parent, nobody answers its children.
    ...(params.ask && { ask: (question, signal) => parent.askForChild(name, question, signal) }),
    ...withoutUndefined({
      systemPrompt: systemPrompt ?? inheritedPrompt,
      appendSystemPrompt,
      budgets,
      readablePaths: options.readablePaths,
    }),
  } as AgentSessionParams;
}

/**
 * Takes what is asked for, else what the agent sets, else what the parent has. A role without a model is the default of the
 * parent. The model of a role has a provider of its own.
 */
function chooseChildModel(
  parent: AgentSession,
  agent: NamedAgent | undefined,
  { model, thinkingLevel }: ChildOptions,
): Pick<AgentSessionParams, "model" | "thinkingLevel"> & { provider?: undefined } {
  const own = resolveAgentModel(parent.modelRegistry, agent);
  const resolution = model === undefined ? undefined : parent.modelRegistry.resolve(model);
  const named = resolution?.kind === "resolved" ? resolution : undefined;
  const asked = named?.isDefault ? parent.resolveModel(model!).model : model;
  const role = model === undefined ? own.role : named?.isDefault ? undefined : named?.role;
  return {
    ...withoutUndefined({
      model: asked ?? (role === undefined ? own.model : `@${role}`) ?? parent.model,
      thinkingLevel: thinkingLevel ?? named?.thinkingLevel ?? own.thinkingLevel ?? parent.thinkingLevel,
    }),
    ...(role !== undefined && { provider: undefined }),
  };
}

/** The tools of the parent's agent limit those of its children, also of those with other agents. */
function limitToParent(params: AgentSessionParams, agent: NamedAgent | undefined) {
  const { only, tools = [] } = agent?.tools ?? {};
  const off = tools.filter(({ enabled }) => !enabled).map(({ name }) => name);
  const excludedTools = [...(params.excludedTools ?? []), ...off];
  return withoutUndefined({
    allowedTools: bothAllow(params.allowedTools, only),
    excludedTools: excludedTools.length === 0 ? undefined : excludedTools,
  });
}

/** Leaves out the parameters that belong to the parent alone. */
const withoutOwn = ({
  planMode: _planMode,
  sessionId: _sessionId,
  sessionManager: _sessionManager,
  storage: _storage,
  session: _session,
  abortSignal: _abortSignal,
  onEvent: _onEvent,
  binding: _binding,
  afterCrash: _afterCrash,
  budgets: _budgets,
  ...inherited
}: AgentSessionParams) => inherited;

/** The wanted tools that the parent may use. A pattern applies if the parent is not limited, or has the same one. */
function limitTools(wanted: readonly string[], allowed: readonly string[] | undefined): readonly string[] {
  if (!allowed) return wanted;
  const matches = createNameMatcher(allowed);
  return wanted.filter((name) => allowed.includes(name) || (!name.includes("*") && matches(name)));
}
