/** Creates the actions of extensions on the parts of their session. */
import type { Agent, ThinkingLevel } from "@tau/agent";
import type { Model } from "@tau/ai";
import { getErrorMessage } from "@tau/ai/internal";
import { type SessionManager, toError } from "@tau/pi/internal";
import type { ContextActions, ExtensionActions } from "../extensions/extension.ts";
import type { SettingsManager } from "../settings/settings-manager.ts";
import type { ActiveTools } from "./active-tools.ts";
import type { CurrentRunner } from "./current-runner.ts";
import type { NestedCalls } from "./nested-calls.ts";
import type { ModelChoice } from "./model-choice.ts";
import type { Prompts } from "./prompts.ts";
import type { Runs } from "./runs.ts";
import type { SlashCommands } from "./slash-commands.ts";
import type { Statistics } from "./statistics.ts";
import type { Content, CustomDraft, CustomMessageOptions } from "./types.ts";

export interface ActionParts {
  agent: Agent;
  sessionManager: SessionManager;
  settingsManager: SettingsManager;
  extensions: CurrentRunner;
  models: ModelChoice;
  tools: ActiveTools;
  calls: NestedCalls;
  commands: SlashCommands;
  prompts: Prompts;
  runs: Runs;
  statistics: Statistics;
}

/** Handlers of the program that take the place of the session's own. */
interface Handlers {
  abortHandler?: () => void;
  shutdownHandler?: () => void;
}

export function createActions(parts: ActionParts): ExtensionActions {
  const { sessionManager, settingsManager, extensions, models, tools, commands, prompts } = parts;
  const actions = {
    sendMessage: (message: CustomDraft, options?: CustomMessageOptions) =>
      reportFailure(extensions, prompts.sendCustomMessage(message, options), "send_message"),
    sendUserMessage: (content: Content, options?: { deliverAs?: "steer" | "followUp" }) =>
      reportFailure(extensions, prompts.sendUserMessage(content, options), "send_user_message"),
    appendEntry: (customType: string, data?: unknown) => void sessionManager.appendCustomEntry(customType, data),
    setSessionName: (name: string) => void sessionManager.appendSessionInfo(name),
    getSessionName: () => sessionManager.getSessionName(),
    setLabel: (entryId: string, label: string | undefined) => void sessionManager.appendLabelChange(entryId, label),
    getActiveTools: () => tools.names,
    getAllTools: () => tools.listAll(),
    setActiveTools: (names: string[]) => tools.activate(names),
    refreshTools: () => tools.refreshAndActivate(extensions.runner),
    getSettings: () => settingsManager.getSettings(),
    getCommands: () => commands.list(),
    setModel: (model: Model) =>
      models.set(model).then(
        () => true,
        () => false,
      ),
    getThinkingLevel: () => models.thinkingLevel,
    setThinkingLevel: (level: ThinkingLevel) => models.setThinkingLevel(level),
  };
  return actions as unknown as ExtensionActions;
}

/** `getHandlers` gives those that the program has bound by now. */
export function createContextActions(parts: ActionParts, getHandlers: () => Handlers): ContextActions {
  const { agent, settingsManager, extensions, models, tools, calls, prompts, runs, statistics } = parts;
  return {
    getModel: () => models.model,
    getScopedModels: () => models.scopedModels,
    getSignal: () => agent.signal,
    isProjectTrusted: () => settingsManager.isProjectTrusted(),
    isIdle: () => !agent.state.isStreaming,
    abort: () => {
      const { abortHandler } = getHandlers();
      if (abortHandler) abortHandler();
      else void runs.abort();
    },
    hasPendingMessages: () => prompts.waitingCount > 0,
    shutdown: () => getHandlers().shutdownHandler?.(),
    getContextUsage: () => statistics.getContextUsage(),
    compact: ({ customInstructions, onComplete, onError } = {}) => {
      const answer = runs.compact(customInstructions).then((result) => onComplete?.(result));
      const answered = answer.catch((error: unknown) => onError?.(toError(error)));
      reportFailure(extensions, answered, "compact");
    },
    getSystemPrompt: () => agent.state.systemPrompt,
    listCallableTools: () => tools.listCallable(),
    executeTool: (callerId, name, args, options = {}) =>
      calls.callTool(callerId, name, args, { ...options, tools: tools.listCallable() }),
  };
}

/** Nobody waits for what an extension starts. */
function reportFailure(extensions: CurrentRunner, promise: Promise<unknown>, event: string): void {
  promise.catch((error: unknown) =>
    extensions.runner.emitError({ extensionPath: "<runtime>", event, error: getErrorMessage(error) }),
  );
}
