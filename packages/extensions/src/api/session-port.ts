/**
 * The port through which extensions see their session. The session implements it; the isolated host and tests can too.
 */
import type { AgentTool, AgentToolUpdateCallback, ThinkingLevel, ToolCallOutcome } from "@tau/agent";
import type { ImageContent, Model, TextContent } from "@tau/ai";
import type { PermissionMode, SlashCommandData } from "@tau/protocol";
import type { Program } from "@tau/tools";
import type { ExecOptions, ExecResult, ExtensionAPI, ProviderConfig, SessionNameOptions, SpawnOptions } from "./api.ts";
import type {
  ContextUsage,
  ExtensionCommandContext,
  ExtensionMode,
  ScopedModel,
  SendMessageOptions,
  SendUserMessageOptions,
} from "./context.ts";
import type { CustomMessageDraft, ExtensionCompaction } from "./events.ts";
import type { ModelAccess } from "./model-access.ts";
import type { SessionReader } from "./session-reader.ts";
import type { SystemPromptOptions } from "./system-prompt-options.ts";
import type { ExtensionUi } from "./ui.ts";

/** Extensions call these as they are. */
type PassedOn = Pick<
  ExtensionAPI,
  | "getSettings"
  | "openChild"
  | "getChildrenSignal"
  | "whileWaiting"
  | "keepText"
  | "keepImage"
  | "getPersonWaitMs"
  | "getAgents"
  | "requestAccess"
  | "audit"
  | "getActiveTools"
  | "getAllTools"
  | "findTools"
>;

export interface ExtensionSessionPort extends PassedOn {
  readonly cwd: string;
  readonly mode: ExtensionMode;
  readonly ui: ExtensionUi;
  readonly reader: SessionReader;
  readonly modelRegistry: ModelAccess;

  getModel(): Model | undefined;
  setModel(model: Model): Promise<boolean>;
  getScopedModels(): readonly ScopedModel[];
  getThinkingLevel(): ThinkingLevel;
  setThinkingLevel(level: ThinkingLevel): Promise<void>;
  getPermissionMode(): PermissionMode;
  setPlanMode(isOn: boolean): Promise<void>;

  isIdle(): boolean;
  isProjectTrusted(): boolean;
  getSignal(): AbortSignal | undefined;
  abort(): void;
  hasPendingMessages(): boolean;
  shutdown(): void;
  getContextUsage(): ContextUsage | undefined;
  compact(instructions: string | undefined): Promise<ExtensionCompaction>;
  getSystemPrompt(): string;
  getSystemPromptOptions(): SystemPromptOptions;

  /** Resolves when the message is in the log or queued. */
  sendMessage(message: CustomMessageDraft, options: SendMessageOptions): Promise<void>;
  sendUserMessage(content: string | (TextContent | ImageContent)[], options: SendUserMessageOptions): Promise<void>;
  appendEntry(customType: string, data: unknown): Promise<void>;
  setSessionName(name: string, options?: SessionNameOptions): Promise<void>;
  setLabel(entryId: string, label: string | undefined): Promise<void>;

  exec(command: string, args: readonly string[], options: ExecOptions): Promise<ExecResult>;
  /** The program outlives the session, unless it is ended. */
  spawn(command: string, args: readonly string[], options: SpawnOptions): Promise<Program>;
  setActiveTools(names: readonly string[]): void;
  /** Tools that requests list were registered after the session began. */
  refreshTools(): void;
  getCallableTools(): readonly AgentTool[];
  executeTool(
    callerId: string,
    name: string,
    args: unknown,
    /**
     * `onBegin` is called with the id of the call, and of each call made inside it, before that call is judged. With `isOfFeature`,
     * tools can be called that are there for features only.
     */
    options: {
      signal?: AbortSignal;
      onUpdate?: AgentToolUpdateCallback;
      onBegin?: (id: string) => void;
      isOfFeature?: boolean;
    },
  ): Promise<ToolCallOutcome>;
  getCommands(): SlashCommandData[];

  registerProvider(name: string, config: ProviderConfig): void;
  unregisterProvider(name: string): void;

  waitForIdle(): Promise<void>;
  reload(): Promise<void>;
  /** Leave this session; the surface decides what it shows instead. */
  readonly replace: Pick<ExtensionCommandContext, "newSession" | "fork" | "switchSession">;
  navigateTree: ExtensionCommandContext["navigateTree"];
}
