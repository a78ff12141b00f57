/** The parts, the events and the options of a session. */
import type { Agent, AgentEvent, AgentTool, ThinkingLevel } from "@tau/agent";
import { type ImageContent, type Model, type TextContent } from "@tau/ai";
import type { ToolDefinition } from "@tau/extensions";
import type { CompactionResult, SessionManager } from "@tau/pi/internal";
import type { ExtensionRunner } from "../extensions/runner.ts";
import type { ModelRegistry } from "../models/model-registry.ts";
import type { ModelRuntime } from "../models/model-runtime.ts";
import type { SettingsManager } from "../settings/settings-manager.ts";
import type { ResourceSource } from "./resource-source.ts";

export type Content = string | (TextContent | ImageContent)[];
export type ScopedModel = { model: Model; thinkingLevel?: ThinkingLevel };

export interface AgentSessionConfig {
  agent: Agent;
  sessionManager: SessionManager;
  settingsManager: SettingsManager;
  cwd: string;
  /** Default: that of `modelRuntime`. */
  modelRegistry?: ModelRegistry;
  /** Default: that of `modelRegistry`. One of the two is needed. */
  modelRuntime?: ModelRuntime;
  resourceLoader: ResourceSource;
  scopedModels?: ScopedModel[];
  customTools?: ToolDefinition[];
  initialActiveToolNames?: string[];
  /** The only tools that the session has, by name or pattern. Default: all. */
  allowedToolNames?: readonly string[];
  /** Tools that the session does not have, by name or pattern. */
  excludedToolNames?: readonly string[];
  baseToolsOverride?: Record<string, AgentTool>;
  extensionRunnerRef?: { current?: ExtensionRunner };
  /** Sent to extensions when they are bound. Default: the start of a program. */
  sessionStartEvent?: SessionStartEvent;
}

export interface SessionStartEvent {
  type: "session_start";
  reason: "startup" | "reload" | "new" | "resume" | "fork";
  /** The file of the session before, for `new`, `resume` and `fork`. */
  previousSessionFile?: string;
}

export type AgentSessionEvent =
  | AgentEvent
  /** The name of versions before 1.0, without the compactions that somebody asked for. */
  | { type: "auto_compaction_start"; reason: "threshold" | "overflow" }
  | ({ type: "auto_compaction_end" } & CompactionEnd)
  | { type: "compaction_start"; reason: CompactionReason }
  | ({ type: "compaction_end"; reason: CompactionReason } & CompactionEnd)
  /** The run is over, and so are its retries and compactions. */
  | { type: "agent_settled"; aborted: boolean }
  /** The texts that wait. */
  | { type: "queue_update"; steering: readonly string[]; followUp: readonly string[] }
  | { type: "auto_retry_start"; attempt: number; maxAttempts: number; delayMs: number; errorMessage: string }
  | { type: "auto_retry_end"; success: boolean; attempt: number; finalError?: string };

export type CompactionReason = "manual" | "threshold" | "overflow";

export interface CompactionEnd {
  result: CompactionResult | undefined;
  aborted: boolean;
  willRetry: boolean;
  errorMessage?: string;
}

export interface PromptOptions {
  /** Default true. */
  expandPromptTemplates?: boolean;
  images?: ImageContent[];
  /** Needed while a run is in progress. */
  streamingBehavior?: "steer" | "followUp";
  source?: string;
}

export interface CustomDraft {
  customType: string;
  content: Content;
  display: boolean;
  details?: unknown;
}

export interface CustomMessageOptions {
  /** Whether the message starts a run if none is in progress. Default false. */
  triggerTurn?: boolean;
  /** Default: `steer` while a run is in progress. `nextTurn` sends it with the next prompt. */
  deliverAs?: "steer" | "followUp" | "nextTurn";
}
