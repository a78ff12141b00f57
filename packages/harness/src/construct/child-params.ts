/** The parameters of a session that another one starts: at most the authority of its parent. */
import { resolve } from "node:path";
import type { ChildOptions } from "@tau/extensions";
import { withoutUndefined } from "@tau/ai/internal";
import { createNameMatcher } from "@tau/policy/internal";
import type { AgentSession } from "../agent-session/agent-session.ts";
import type { LiveSessions } from "../agent-session/live-sessions.ts";
import type { AgentSessionParams } from "./params.ts";

/** Parameters that belong to the parent alone. */
type Own =
  | "planMode"
  | "sessionId"
  | "sessionManager"
  | "abortSignal"
  | "onEvent"
  | "binding"
  | "afterCrash"
  | "budgets";

export async function createChildParams(
  params: AgentSessionParams,
  { parent, sessions }: { parent: AgentSession; sessions: LiveSessions },
  options: ChildOptions,
): Promise<AgentSessionParams> {
  const { name, tools, excludedTools, sessionId, agentName, systemPrompt, appendSystemPrompt, budgets } = options;
  const { sessionManager: log } = parent;
  const cwd = resolve(parent.cwd, options.cwd ?? "");
  const inherited: Omit<AgentSessionParams, Own> = withoutOwn(params);
  return {
    ...inherited,
    cwd,
    projectDirectory: params.projectDirectory ?? parent.cwd,
    settingsManager: parent.settingsManager,
    authStorage: parent.authStorage,
    modelRegistry: parent.modelRegistry,
    ...(agentName === undefined && { resourceLoader: parent.resourceLoader }),
    ...chooseChildModel(parent, options),
    sessionManager: await (sessionId === undefined
      ? log.createSession({ parentId: log.id, ...(options.cwd !== undefined && { cwd }) })
      : log.openSession(sessionId)),
    parentSessionId: log.id,
    sessions,
    // It follows its parent: one that begins in plan mode has left it when the parent has.
    ...(params.permissionMode === "plan" && {
      permissionMode: parent.permissions.afterPlan ?? parent.permissions.mode,
    }),
    ...(tools && { allowedTools: limitTools(tools, params.allowedTools) }),
    ...(excludedTools && { excludedTools: [...(params.excludedTools ?? []), ...excludedTools] }),
    // Where nobody answers the parent, nobody answers its children.
    ...(params.ask && { ask: (question, signal) => parent.askForChild(name, question, signal) }),
    ...withoutUndefined({ agentName, systemPrompt, appendSystemPrompt, budgets }),
  } as AgentSessionParams;
}

/** The model and level of a child. A role without a model is the model of the parent. */
function chooseChildModel(parent: AgentSession, { model, thinkingLevel }: ChildOptions) {
  const resolution = model === undefined ? undefined : parent.modelRegistry.resolve(model);
  const named = resolution?.kind === "resolved" ? resolution : undefined;
  const ofRole = named?.role === undefined ? undefined : named.isDefault ? parent.model : named.model;
  return {
    model: ofRole ?? model ?? parent.model,
    thinkingLevel: thinkingLevel ?? named?.thinkingLevel ?? parent.thinkingLevel,
  };
}

const withoutOwn = ({
  planMode: _planMode,
  sessionId: _sessionId,
  sessionManager: _sessionManager,
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
