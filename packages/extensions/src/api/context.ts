/** The context that handlers, tools and commands of an extension are given besides the event. Names are pi's. */
import type { AgentTool, AgentToolUpdateCallback, ThinkingLevel, ToolCallOutcome } from "@tau/agent";
import type { ImageContent, Model, TextContent } from "@tau/ai";
import type { ToolCallContext } from "@tau/tools";
import type { SessionWriter } from "./session-writer.ts";
import type { CustomMessageDraft, ExtensionCompaction } from "./events.ts";
import type { ModelAccess } from "./model-access.ts";
import type { SessionReader } from "./session-reader.ts";
import type { SystemPromptOptions } from "./system-prompt-options.ts";
import type { ExtensionUi } from "./ui.ts";

export type ExtensionMode = "tui" | "rpc" | "json" | "print";

export interface ContextUsage {
  /** Null while it is not known. */
  tokens: number | null;
  contextWindow: number;
  /** 0 to 100. */
  percent: number | null;
}

export interface ScopedModel {
  model: Model;
  thinkingLevel?: ThinkingLevel;
}

/** Every member throws once the session was replaced or the extensions were reloaded. */
export interface ExtensionContext {
  readonly ui: ExtensionUi;
  readonly mode: ExtensionMode;
  /** Whether dialogs can be answered: true for `tui` and `rpc`. */
  readonly hasUI: boolean;
  readonly cwd: string;
  /** The session as it is now, to be read. */
  readonly sessionManager: SessionReader;
  readonly modelRegistry: ModelAccess;
  readonly model: Model | undefined;
  /** Empty when all models may be used. */
  readonly scopedModels: readonly ScopedModel[];
  readonly thinkingLevel: ThinkingLevel;
  isIdle(): boolean;
  isProjectTrusted(): boolean;
  /** The signal of the current run; undefined when there is none. */
  readonly signal: AbortSignal | undefined;
  abort(): void;
  hasPendingMessages(): boolean;
  /** Ends the program when the current run is over. */
  shutdown(): void;
  getContextUsage(): ContextUsage | undefined;
  /** Begins a compaction and does not wait for it. */
  compact(options?: {
    customInstructions?: string;
    onComplete?: (result: ExtensionCompaction) => void;
    onError?: (error: Error) => void;
  }): void;
  getSystemPrompt(): string;
}

export interface ExtensionToolContext extends ExtensionContext {
  /** The files of this call, with its permissions. Only tools of features have them. */
  readonly ports?: Pick<ToolCallContext, "files" | "spawn"> | undefined;
  /** The tools that `executeTool` can call. */
  readonly tools: readonly AgentTool[];
  /**
   * Calls another tool as the model would: validated, judged, with its events and its own entry in the log. The call is
   * aborted when this tool ends, and cannot be made afterwards. Never rejects for a tool that fails.
   */
  executeTool(
    name: string,
    args: unknown,
    options?: { signal?: AbortSignal; onUpdate?: AgentToolUpdateCallback },
  ): Promise<ToolCallOutcome>;
}

interface Replaced {
  /** False when a handler of an extension cancelled it. */
  cancelled: boolean;
}

interface WithSession {
  /** Called with a context of the new session, in which the old one no longer works. */
  withSession?: (context: ReplacedSessionContext) => Promise<void>;
}

export interface ExtensionCommandContext extends ExtensionContext {
  getSystemPromptOptions(): SystemPromptOptions;
  waitForIdle(): Promise<void>;
  newSession(
    options?: { parentSession?: string; setup?: (sessionManager: SessionWriter) => Promise<void> } & WithSession,
  ): Promise<Replaced>;
  fork(entryId: string, options?: { position?: "before" | "at" } & WithSession): Promise<Replaced>;
  navigateTree(
    targetId: string,
    options?: { summarize?: boolean; customInstructions?: string; replaceInstructions?: boolean; label?: string },
  ): Promise<Replaced>;
  switchSession(sessionPath: string, options?: WithSession): Promise<Replaced>;
  reload(): Promise<void>;
}

export interface SendMessageOptions {
  /** Begins a run if none is in progress. Default false. */
  triggerTurn?: boolean;
  /** During a run. `nextTurn` waits for the next prompt. Default `steer`. */
  deliverAs?: "steer" | "followUp" | "nextTurn";
}

export interface SendUserMessageOptions {
  /** Needed during a run. */
  deliverAs?: "steer" | "followUp";
  /** Whether commands, skills and templates are expanded. Default false. */
  expandPromptTemplates?: boolean;
}

export interface ReplacedSessionContext extends ExtensionCommandContext {
  sendMessage(message: CustomMessageDraft, options?: SendMessageOptions): Promise<void>;
  sendUserMessage(content: string | (TextContent | ImageContent)[], options?: SendUserMessageOptions): Promise<void>;
}
