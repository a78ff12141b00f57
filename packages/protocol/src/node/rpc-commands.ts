/** Every command of RPC mode: what it takes, and what it answers with. See docs/rpc.md. */
import type { ImageContent, Message, Model, Usage } from "@tau/ai";
import type { TerminationReason, WireEntry } from "../event.ts";

export type RpcThinkingLevel = "off" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";
export type RpcQueueMode = "all" | "one-at-a-time";
/** Without headers, which may hold secrets. */
export type RpcModel = Omit<Model, "headers">;
/** A message of the conversation; those that are no model's have roles and fields of their own. */
export type RpcMessage = Message | { role: string; [field: string]: unknown };
/** `started`: a run began with it. `queued`: it waits for its turn in the run that goes on. */
export type RpcDisposition = "started" | "queued";

type Nothing = Record<never, never>;

interface Command<Params, Data> {
  params: Params;
  data: Data;
}

export interface RpcState {
  model?: RpcModel;
  thinkingLevel: RpcThinkingLevel;
  isStreaming: boolean;
  isCompacting: boolean;
  steeringMode: RpcQueueMode;
  followUpMode: RpcQueueMode;
  sessionFile?: string;
  sessionId: string;
  sessionName?: string;
  autoCompactionEnabled: boolean;
  autoRetryEnabled: boolean;
  messageCount: number;
  pendingMessageCount: number;
}

export interface RpcStats {
  sessionFile?: string;
  sessionId: string;
  userMessages: number;
  assistantMessages: number;
  toolCalls: number;
  toolResults: number;
  totalMessages: number;
  tokens: { input: number; output: number; cacheRead: number; cacheWrite: number; total: number };
  /** US dollars. */
  cost: number;
  /** 0 to 1. */
  cacheHitRate: number;
  contextUsage?: { tokens: number; contextWindow: number; percent: number };
}

export interface RpcCompaction {
  summary: string;
  firstKeptEntryId: string;
  tokensBefore: number;
  estimatedTokensAfter: number;
  usage: Usage;
  details: unknown;
}

export interface RpcBashResult {
  output: string;
  /** Absent when it was cancelled, or could not be run. */
  exitCode?: number;
  cancelled: boolean;
  truncated: boolean;
  fullOutputPath?: string;
}

export interface RpcSlashCommand {
  /** Without the slash. */
  name: string;
  description?: string;
  source: "prompt" | "skill";
  sourceInfo: { path: string; source: string; scope: "user" | "project"; origin: string; baseDir?: string };
}

export interface RpcTreeNode {
  entry: WireEntry;
  children: RpcTreeNode[];
  label?: string;
}

export interface RpcAnswer {
  answer: string;
  terminationReason: TerminationReason;
  /** Such as `length`, or a budget that ended the run. */
  detail?: string;
}

interface Said {
  message: string;
  images?: ImageContent[];
}

export interface RpcCommands {
  prompt: Command<Said & { streamingBehavior?: "steer" | "followUp" }, { disposition: RpcDisposition }>;
  steer: Command<Said & { interrupt?: boolean }, { disposition: RpcDisposition }>;
  follow_up: Command<Said, { disposition: RpcDisposition }>;
  /** Runs to the end. */
  execute: Command<{ prompt: string; images?: ImageContent[] }, RpcAnswer>;
  abort: Command<Nothing, null>;
  clear_queue: Command<Nothing, { steering: string[]; followUp: string[] }>;
  approve: Command<{ approvalId: string } & RpcDecision, null>;
  get_state: Command<Nothing, RpcState>;
  get_messages: Command<Nothing, { messages: RpcMessage[] }>;
  get_session_stats: Command<Nothing, RpcStats>;
  get_last_assistant_text: Command<Nothing, { text: string | null }>;
  get_commands: Command<Nothing, { commands: RpcSlashCommand[] }>;
  get_entries: Command<{ since?: string }, { entries: WireEntry[]; leafId: string | null }>;
  get_tree: Command<Nothing, { tree: RpcTreeNode[]; leafId: string | null }>;
  set_model: Command<{ provider: string; modelId: string }, RpcModel>;
  /** Null when there is no other. */
  cycle_model: Command<Nothing, { model: RpcModel; thinkingLevel: RpcThinkingLevel; isScoped: boolean } | null>;
  get_available_models: Command<Nothing, { models: RpcModel[] }>;
  set_thinking_level: Command<{ level: RpcThinkingLevel }, null>;
  /** Null when the model has only one. */
  cycle_thinking_level: Command<Nothing, { level: RpcThinkingLevel } | null>;
  get_available_thinking_levels: Command<Nothing, { levels: RpcThinkingLevel[] }>;
  set_steering_mode: Command<{ mode: RpcQueueMode }, null>;
  set_follow_up_mode: Command<{ mode: RpcQueueMode }, null>;
  set_auto_compaction: Command<{ enabled: boolean }, null>;
  set_auto_retry: Command<{ enabled: boolean }, null>;
  abort_retry: Command<Nothing, null>;
  compact: Command<{ customInstructions?: string }, RpcCompaction>;
  bash: Command<{ command: string; excludeFromContext?: boolean }, RpcBashResult>;
  abort_bash: Command<Nothing, null>;
  set_session_name: Command<{ name: string }, null>;
  export_html: Command<{ outputPath?: string }, { path: string }>;
  new_session: Command<{ parentSession?: string }, { cancelled: boolean }>;
  /** A path, or an id, or the beginning of one. */
  switch_session: Command<{ sessionPath: string }, { cancelled: boolean }>;
  fork: Command<{ entryId: string }, { text: string; cancelled: boolean }>;
  clone: Command<Nothing, { cancelled: boolean }>;
  get_fork_messages: Command<Nothing, { messages: { entryId: string; text: string }[] }>;
}

export type RpcCommandName = keyof RpcCommands;
export type RpcParams<Name extends RpcCommandName> = RpcCommands[Name]["params"];
export type RpcData<Name extends RpcCommandName> = RpcCommands[Name]["data"];

/** What a person says to a question. `session`: do not ask again for this target until the session ends. */
export interface RpcDecision {
  decision: "allow" | "deny";
  remember?: "session" | "always";
}

/** A question of the program's. */
export interface RpcQuestion {
  approvalId: string;
  toolCallId: string;
  toolName: string;
  /** What the call would do, in words. */
  summary: string;
  /** Why somebody is asked, with what would really be touched: a name in a call may lead elsewhere. */
  reason: string;
  /** Milliseconds since the epoch. */
  expiresAt?: number;
}
