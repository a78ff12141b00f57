/** The parts of a session that its extensions use. */
import type { AgentMessage, AgentTool, ThinkingLevel } from "@tau/agent";
import type { ImageContent, Model } from "@tau/ai";
import type { AuthStorage } from "@tau/config/auth";
import type { ModelRegistry } from "@tau/config/models";
import type { Settings, SettingsManager } from "@tau/config/settings";
import type { AgentInfo, ChildOptions, InputSource, ToolInfo } from "@tau/extensions";
import type { JudgeParts } from "@tau/policy/internal";
import type { PermissionData, SessionEvent } from "@tau/protocol";
import type { Budget } from "../budget/budget.ts";
import type { RunOutcome } from "../run/run.ts";
import type { CompactionOutcome } from "../compaction/compact.ts";
import type { SlashCommandSource } from "../prompt/slash-commands.ts";
import type { SystemPrompt, SystemPromptInput } from "../prompt/system-prompt.ts";
import type { SessionManager } from "../session/session-manager.ts";

/** See `AgentSession` for each member. */
export interface PortSession extends SlashCommandSource {
  readonly sessionManager: SessionManager;
  readonly modelRegistry: ModelRegistry;
  readonly authStorage: AuthStorage;
  readonly settingsManager: SettingsManager;
  readonly settings: Settings;
  readonly model: Model | undefined;
  readonly modelPatterns: readonly string[] | undefined;
  readonly thinkingLevel: ThinkingLevel;
  readonly systemPrompt: string;
  readonly tools: readonly AgentTool[];
  readonly knownTools: readonly AgentTool[];
  readonly isStreaming: boolean;
  readonly permissions: PermissionData;
  setPermissionMode(mode: string): Promise<PermissionData>;
  setModel(model: Model): Promise<void>;
  setThinkingLevel(level: ThinkingLevel): Promise<void>;
  setActiveTools(names: readonly string[]): void;
  submit(text: string, options: PortSubmitOptions): Promise<PortSubmission>;
  abort(): Promise<void>;
  compact(instructions?: string): Promise<CompactionOutcome>;
  navigate(entryId: string | null, options: PortNavigateOptions): Promise<boolean>;
  waitForIdle(): Promise<void>;
  reload(): Promise<unknown>;
  notify(code: string, message: string): void;
  getAgents(): Promise<AgentInfo[]>;
  readonly judgeParts: JudgeParts;
  readonly approvalWaitMs: number;
  readonly budget: Budget;
  openChild(options: ChildOptions): Promise<PortChild & { dispose(): Promise<void> }>;
  getChildrenSignal(): AbortSignal;
}

/** The parts of a child that whoever started it uses. See `AgentSession` for each member. */
export interface PortChild {
  readonly sessionId: string;
  readonly sessionFile: string | undefined;
  prompt(text: string): Promise<({ kind: "ran" } & RunOutcome) | { kind: "queued" | "handled" }>;
  submit(text: string, options: { queue: "steer"; source: InputSource }): Promise<unknown>;
  abort(reason?: unknown): Promise<void>;
  readonly messages: readonly AgentMessage[];
  listChangedFiles(messages: readonly AgentMessage[]): readonly string[];
  onSessionEvent(listener: (event: SessionEvent) => void): () => void;
}

interface PortSubmitOptions {
  images?: ImageContent[];
  queue?: "steer" | "followUp";
  expandPromptTemplates: boolean;
  source: InputSource;
}

type PortSubmission = { disposition: "started"; outcome: Promise<unknown> } | { disposition: "queued" | "handled" };

interface PortNavigateOptions {
  summarise?: boolean;
  instructions?: string;
  replaceInstructions?: boolean;
  label?: string;
}

/** See `Activity` for each member. */
export interface PortActivity {
  readonly isSettling: boolean;
  readonly isEnding: boolean;
  begin(messages: readonly AgentMessage[]): Promise<void>;
  later(work: () => Promise<void>): Promise<void>;
  whileWaiting<T>(work: () => Promise<T>): Promise<T>;
}

/** See `ShownTools` for each member. */
export interface PortTools {
  readonly prompt: SystemPrompt;
  readonly shown: { readonly promptInput: SystemPromptInput; readonly unlisted: readonly AgentTool[] };
  readonly found: { list(): Promise<ToolInfo[]>; listNow(): readonly AgentTool[] };
  listInternal(): readonly AgentTool[];
  setRunPrompt(prompt: { text: string; by: readonly string[] } | undefined): void;
  rebuild(): void;
}
