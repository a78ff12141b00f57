/** Extensions as pi has them: what each registered, by its kind. */
import type { AgentTool } from "@tau/agent";
import type {
  CommandDefinition,
  EntryRenderer,
  ExtensionAPI,
  ExtensionCommandContext,
  ExtensionContext,
  ExtensionToolContext,
  FlagDefinition,
  MarkdownTransformer,
  MessageRenderer,
  ProviderConfig,
  ShortcutDefinition,
  SourceInfo,
  ToolDefinition,
  ToolRendererResolver,
} from "@tau/extensions";

export type Handler = (event: unknown, context: ExtensionContext) => unknown;

export interface RegisteredTool {
  definition: ToolDefinition;
  extensionPath: string;
  sourceInfo?: SourceInfo;
}

export interface RegisteredCommand extends CommandDefinition {
  name: string;
}

export type RegisteredFlag = FlagDefinition & { name: string; extensionPath: string };

export interface RegisteredShortcut extends ShortcutDefinition {
  shortcut: string;
  extensionPath: string;
}

export interface PiExtension {
  path: string;
  resolvedPath: string;
  sourceInfo: SourceInfo;
  handlers: Map<string, Handler[]>;
  tools: Map<string, RegisteredTool>;
  messageRenderers: Map<string, MessageRenderer>;
  entryRenderers: Map<string, EntryRenderer>;
  markdownTransformers: MarkdownTransformer[];
  toolRenderers: ToolRendererResolver[];
  mcpServers: Map<string, Record<string, unknown>>;
  virtualModels: Record<string, unknown>[];
  commands: Map<string, RegisteredCommand>;
  flags: Map<string, RegisteredFlag>;
  shortcuts: Map<string, RegisteredShortcut>;
}

/** Actions of extensions on their session. */
export type ExtensionActions = Pick<
  ExtensionAPI,
  | "sendMessage"
  | "sendUserMessage"
  | "appendEntry"
  | "setSessionName"
  | "getSessionName"
  | "setLabel"
  | "getActiveTools"
  | "getAllTools"
  | "setActiveTools"
  | "getSettings"
  | "getCommands"
  | "setModel"
  | "getThinkingLevel"
  | "setThinkingLevel"
> & { refreshTools(): void };

/** Shared by the extensions of a session. Actions throw until a runner has bound them. */
export interface ExtensionRuntime extends ExtensionActions {
  flagValues: Map<string, boolean | string>;
  /** Providers that were registered before there was a registry. */
  pendingProviderRegistrations: { name: string; config: ProviderConfig }[];
  registerProvider(name: string, config: ProviderConfig): void;
  unregisterProvider(name: string): void;
}

export interface LoadExtensionsResult {
  extensions: PiExtension[];
  errors: { path: string; error: string }[];
  runtime: ExtensionRuntime;
}

export interface ContextActions extends Pick<
  ExtensionContext,
  | "isProjectTrusted"
  | "isIdle"
  | "abort"
  | "hasPendingMessages"
  | "shutdown"
  | "getContextUsage"
  | "compact"
  | "getSystemPrompt"
> {
  getModel(): ExtensionContext["model"];
  getScopedModels(): readonly unknown[];
  /** Returns the signal of the run in progress. */
  getSignal(): AbortSignal | undefined;
  /** Lists the tools that other tools can call. */
  listCallableTools(): readonly AgentTool[];
  /** Calls a tool as the model would, inside the call `callerId`. Never rejects. */
  executeTool(
    callerId: string,
    ...call: Parameters<ExtensionToolContext["executeTool"]>
  ): ReturnType<ExtensionToolContext["executeTool"]>;
}

export type CommandActions = Pick<
  ExtensionCommandContext,
  "waitForIdle" | "newSession" | "fork" | "navigateTree" | "switchSession" | "reload"
>;
