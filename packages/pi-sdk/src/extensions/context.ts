/** Creates the contexts that handlers, tools and commands get. Their members read the current state of the session. */
import {
  type ExtensionCommandContext,
  type ExtensionContext,
  type ExtensionToolContext,
  type ExtensionUi,
  noUi,
} from "@tau/extensions";
import type { ModelRegistry } from "../models/model-registry.ts";
import type { SessionManager } from "@tau/pi/internal";
import type { CommandActions, ContextActions, ExtensionRuntime } from "./extension.ts";

/** Bound one after the other while a program starts. */
export interface ContextParts {
  readonly cwd: string;
  readonly sessionManager: SessionManager;
  readonly modelRegistry: ModelRegistry;
  readonly runtime: ExtensionRuntime;
  ui: ExtensionUi;
  /** Default: derived from the interface. */
  mode: ExtensionContext["mode"] | undefined;
  /** Why contexts cannot be used any more. */
  staleMessage?: string;
  context: ContextActions;
  commands: CommandActions;
}

export const defaultContextActions: ContextActions = {
  getModel: () => undefined,
  getScopedModels: () => [],
  getSignal: () => undefined,
  isProjectTrusted: () => true,
  isIdle: () => true,
  abort: () => {},
  hasPendingMessages: () => false,
  shutdown: () => {},
  getContextUsage: () => undefined,
  compact: () => {},
  getSystemPrompt: () => "",
  listCallableTools: () => [],
  executeTool: () => Promise.reject(new Error("There is no session whose tools can be called.")),
};

export const defaultCommandActions: CommandActions = {
  waitForIdle: async () => {},
  newSession: async () => ({ cancelled: false }),
  fork: async () => ({ cancelled: false }),
  navigateTree: async () => ({ cancelled: false }),
  switchSession: async () => ({ cancelled: false }),
  reload: async () => {},
};

export function createContext(parts: ContextParts): ExtensionContext {
  const context = {
    cwd: parts.cwd,
    sessionManager: parts.sessionManager,
    modelRegistry: parts.modelRegistry,
    get ui() {
      return parts.ui;
    },
    get hasUI() {
      return parts.ui !== noUi;
    },
    get mode() {
      return parts.mode ?? (parts.ui === noUi ? "print" : "tui");
    },
    get model() {
      return parts.context.getModel();
    },
    get thinkingLevel() {
      return parts.runtime.getThinkingLevel();
    },
    get scopedModels() {
      return parts.context.getScopedModels();
    },
    get signal() {
      return parts.context.getSignal();
    },
    isProjectTrusted: () => parts.context.isProjectTrusted(),
    isIdle: () => parts.context.isIdle(),
    abort: () => parts.context.abort(),
    hasPendingMessages: () => parts.context.hasPendingMessages(),
    shutdown: () => parts.context.shutdown(),
    getContextUsage: () => parts.context.getContextUsage(),
    compact: (options: Parameters<ExtensionContext["compact"]>[0]) => parts.context.compact(options),
    getSystemPrompt: () => parts.context.getSystemPrompt(),
  };
  // The session and the registry are pi's, which answer at once where tau's are asked and waited for.
  return new Proxy(context as unknown as ExtensionContext, {
    get(target, key, receiver) {
      if (parts.staleMessage !== undefined) throw new Error(parts.staleMessage);
      return Reflect.get(target, key, receiver);
    },
  });
}

export const createToolContext = (parts: ContextParts, toolCallId: string): ExtensionToolContext =>
  Object.defineProperties(createContext(parts), {
    tools: { get: () => parts.context.listCallableTools() },
    executeTool: {
      value: (...call: Parameters<ExtensionToolContext["executeTool"]>) =>
        parts.context.executeTool(toolCallId, ...call),
    },
  }) as ExtensionToolContext;

export function createCommandContext(parts: ContextParts): ExtensionCommandContext {
  const actions: CommandActions = {
    waitForIdle: () => parts.commands.waitForIdle(),
    newSession: (options) => parts.commands.newSession(options),
    fork: (entryId, options) => parts.commands.fork(entryId, options),
    navigateTree: (targetId, options) => parts.commands.navigateTree(targetId, options),
    switchSession: (path, options) => parts.commands.switchSession(path, options),
    reload: () => parts.commands.reload(),
  };
  return Object.defineProperties(
    createContext(parts),
    Object.getOwnPropertyDescriptors(actions),
  ) as ExtensionCommandContext;
}
