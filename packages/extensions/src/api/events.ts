/**
 * The events that extensions can handle, and what their handlers may answer with. Names and fields are pi's. How the answers
 * of several handlers are combined is in `combine-results.ts`.
 */
import type { AgentMessage, AgentToolResult, AgentToolUpdate, ThinkingLevel } from "@tau/agent";
import type {
  AssistantMessageEvent,
  ImageContent,
  Message,
  Model,
  TextContent,
  ToolResultMessage,
  Usage,
} from "@tau/ai";
import type {
  BranchSummaryEntry,
  CompactionEntry,
  CustomMessage,
  PermissionMode,
  SessionEntry,
  UndoData,
} from "@tau/protocol";
import type { BashResult } from "./bash-result.ts";
import type { SystemPromptOptions } from "./system-prompt-options.ts";

type Content = (TextContent | ImageContent)[];

/** A message that an extension adds to the conversation. */
export type CustomMessageDraft<TDetails = unknown> = Pick<
  CustomMessage<TDetails>,
  "customType" | "content" | "display" | "details"
>;

/** An entry that an extension adds to the log at the end of a turn or of a run. */
export type EntryDraft =
  | { type: "custom"; customType: string; data?: unknown }
  | ({ type: "custom_message" } & CustomMessageDraft)
  | { type: "context_edit"; targetId: string; replacement: { content: string | Content } | null }
  | { type: "compaction"; summary: string; firstKeptEntryId: string | null; details?: unknown; usage?: Usage };

/** The state at the end of a turn or of a run. Handlers see what earlier ones answered with. */
export interface BoundaryState {
  entries: EntryDraft[];
  continue: boolean;
  /** The context that the model would be sent next. */
  context: {
    contextMessages: AgentMessage[];
    llmMessages: Message[];
    pendingMessages: AgentMessage[];
    canContinue: boolean;
  };
  outcome: "completed" | "aborted" | "error";
}

export interface BoundaryResult {
  /** Replaces what earlier handlers wanted to add. */
  entries?: EntryDraft[];
  /** Asks for one more request. */
  continue?: boolean;
}

/** Describes what a compaction would do. */
export interface CompactionPreparation {
  firstKeptEntryId: string | null;
  messagesToSummarize: AgentMessage[];
  turnPrefixMessages: AgentMessage[];
  isSplitTurn: boolean;
  tokensBefore: number;
  previousSummary: string | undefined;
  fileOps: { read: readonly string[]; modified: readonly string[] };
  settings: { enabled: boolean; reserveTokens: number; keepRecentTokens: number };
}

/** A summary that an extension made. */
export interface ExtensionCompaction {
  summary: string;
  firstKeptEntryId: string | null;
  tokensBefore: number;
  details?: unknown;
  usage?: Usage;
}

export interface TreePreparation {
  targetId: string;
  oldLeafId: string | null;
  commonAncestorId: string | null;
  entriesToSummarize: SessionEntry[];
  userWantsSummary: boolean;
  customInstructions?: string;
  replaceInstructions?: boolean;
  label?: string;
}

/** Runs commands in another way than tau does, for example on another machine. */
export interface BashOperations {
  exec(
    command: string,
    cwd: string,
    options: { onData: (data: Buffer) => void; signal?: AbortSignal; timeout?: number; env?: NodeJS.ProcessEnv },
  ): Promise<{ exitCode: number | null }>;
}

export type CompactionTrigger = "manual" | "threshold" | "overflow";
export type InputSource = "interactive" | "rpc" | "extension";

/** `event` is what a handler gets, `result` what it may answer with. */
interface EventTypes {
  project_trust: {
    event: { cwd: string };
    result: { trusted: "yes" | "no" | "undecided"; remember?: boolean };
  };
  resources_discover: {
    event: { cwd: string; reason: "startup" | "reload" };
    result: { skillPaths?: string[]; promptPaths?: string[]; themePaths?: string[] };
  };
  session_start: {
    event: { reason: "startup" | "reload" | "new" | "resume" | "fork"; previousSessionFile?: string };
    result: void;
  };
  session_info_changed: { event: { name: string | undefined }; result: void };
  session_before_switch: {
    event: { reason: "new" | "resume"; targetSessionFile?: string };
    result: { cancel?: boolean };
  };
  session_before_fork: {
    event: { entryId: string; position: "before" | "at" };
    result: { cancel?: boolean; skipConversationRestore?: boolean };
  };
  session_before_compact: {
    event: {
      preparation: CompactionPreparation;
      branchEntries: SessionEntry[];
      customInstructions?: string;
      reason: CompactionTrigger;
      willRetry: boolean;
      signal: AbortSignal;
    };
    result: { cancel?: boolean; compaction?: ExtensionCompaction };
  };
  session_compact: {
    event: { compactionEntry: CompactionEntry; fromExtension: boolean; reason: CompactionTrigger; willRetry: boolean };
    result: void;
  };
  session_compact_failed: {
    event: {
      reason: CompactionTrigger;
      errorMessage?: string;
      aborted: boolean;
      willRetry: boolean;
      fromExtension: boolean;
    };
    result: void;
  };
  session_shutdown: {
    event: { reason: "quit" | "reload" | "new" | "resume" | "fork"; targetSessionFile?: string };
    result: void;
  };
  session_before_tree: {
    event: { preparation: TreePreparation; signal: AbortSignal };
    result: {
      cancel?: boolean;
      summary?: { summary: string; details?: unknown; usage?: Usage };
      customInstructions?: string;
      replaceInstructions?: boolean;
      label?: string;
    };
  };
  session_tree: {
    event: {
      newLeafId: string | null;
      oldLeafId: string | null;
      summaryEntry?: BranchSummaryEntry;
      fromExtension?: boolean;
    };
    result: void;
  };
  /** A client takes back, or does again, what prompts did to the files; see the commands `undo` and `redo`. The first answer is used. */
  undo_request: {
    event: {
      direction: "undo" | "redo";
      entryId?: string | null;
      apply?: boolean;
      digest?: string;
      conversation?: boolean;
    };
    result: { data: UndoData; problem?: never } | { data?: never; problem: string };
  };
  mcp_servers_change: { event: { servers: readonly unknown[] }; result: void };
  context: { event: { messages: AgentMessage[] }; result: { messages?: AgentMessage[] } };
  context_with_system: { event: { messages: AgentMessage[] }; result: { messages?: AgentMessage[] } };
  cache_warming_decision: { event: Record<string, unknown>; result: unknown };
  before_provider_request: { event: { payload: unknown }; result: unknown };
  /** Handlers change `headers` in place; null removes a header. */
  before_provider_headers: { event: { headers: Record<string, string | null> }; result: void };
  after_provider_response: { event: { status: number; headers: Record<string, string> }; result: void };
  provider_stream_event: {
    event: { provider: string; api: string; model: string; data: unknown };
    result: void;
  };
  before_agent_start: {
    event: { readonly systemPrompt: string; systemPromptOptions: SystemPromptOptions } & (
      | { messageType: "user"; prompt: string; images?: ImageContent[] }
      | { messageType: "custom"; message: CustomMessage }
    );
    result: { message?: CustomMessageDraft; systemPrompt?: string };
  };
  agent_start: { event: object; result: void };
  agent_end: { event: { messages: AgentMessage[] }; result: void };
  agent_before_settle: { event: BoundaryState; result: BoundaryResult };
  agent_settled: { event: { aborted: boolean }; result: void };
  ui_prompt_start: { event: UiPrompt; result: void };
  ui_prompt_end: { event: UiPrompt; result: void };
  turn_start: { event: { turnIndex: number; timestamp: number }; result: void };
  turn_end: {
    event: BoundaryState & {
      turnIndex: number;
      message: AgentMessage;
      toolResults: ToolResultMessage[];
      messageEntryId: string;
      toolResultEntryIds: string[];
    };
    result: BoundaryResult;
  };
  message_start: { event: { message: AgentMessage }; result: void };
  message_update: { event: { message: AgentMessage; assistantMessageEvent: AssistantMessageEvent }; result: void };
  /** The replacement must have the same role. */
  message_end: { event: { message: AgentMessage }; result: { message?: AgentMessage } };
  tool_execution_start: {
    event: { toolCallId: string; toolName: string; args: unknown; parentToolCallId?: string };
    result: void;
  };
  tool_execution_update: {
    event: {
      toolCallId: string;
      toolName: string;
      args: unknown;
      partialResult: AgentToolUpdate;
      parentToolCallId?: string;
    };
    result: void;
  };
  tool_execution_end: {
    event: {
      toolCallId: string;
      toolName: string;
      result: AgentToolResult;
      isError: boolean;
      durationMs?: number;
      parentToolCallId?: string;
    };
    result: void;
  };
  model_select: {
    event: { model: Model; previousModel: Model | undefined; source: "set" | "cycle" | "restore" };
    result: void;
  };
  thinking_level_select: { event: { level: ThinkingLevel; previousLevel: ThinkingLevel }; result: void };
  /** A person chose another permission mode, or the settings did. */
  permission_mode_select: { event: { mode: PermissionMode; previousMode: PermissionMode }; result: void };
  /** Handlers may change `input` in place; it is not validated again. The policy judges what is left in it. */
  tool_call: {
    event: {
      toolCallId: string;
      toolName: string;
      input: Record<string, unknown>;
      /** The absolute paths that the call names, as far as its tool says. */
      paths?: readonly string[];
      parentToolCallId?: string;
    };
    result: { block?: boolean; reason?: string; terminate?: boolean };
  };
  /**
   * A call that may write or execute was allowed: of this session, or of a session that works for it. The call begins when all
   * handlers are done, whatever became of them.
   */
  before_files_change: { event: { toolCallId: string; toolName: string }; result: void };
  /** Tools are searched for: a handler registers those that it has, with the exposure `deferred`. May be fired again. */
  tools_discover: { event: object; result: void };
  /**
   * A call that did not fail has changed files, which its tool names (see `touches` of a tool). The call waits for the handlers,
   * and what they answer with is added to its result. `paths` are absolute.
   */
  files_changed: {
    event: { paths: readonly string[]; toolCallId: string; toolName: string; parentToolCallId?: string };
    result: { content?: Content };
  };
  tool_result: {
    event: {
      toolCallId: string;
      toolName: string;
      input: Record<string, unknown>;
      /** See `tool_call`. */
      paths?: readonly string[];
      content: Content;
      details: unknown;
      /** The result as data, of a tool that gives it. */
      structuredContent?: unknown;
      isError: boolean;
      usage?: Usage;
      parentToolCallId?: string;
    };
    result: {
      content?: Content;
      details?: unknown;
      structuredContent?: unknown;
      isError?: boolean;
      usage?: Usage;
    };
  };
  user_bash: {
    event: { command: string; excludeFromContext: boolean; cwd: string };
    result: { operations: BashOperations; result?: never } | { operations?: never; result: BashResult };
  };
  input: {
    event: { text: string; images?: ImageContent[]; source: InputSource; streamingBehavior?: "steer" | "followUp" };
    result:
      | { action: "continue" }
      | { action: "transform"; text: string; images?: ImageContent[] }
      | { action: "handled" };
  };
  /**
   * A prompt mentions `@NAME:REST`, and there is no such file. `text` is what follows the `@`. The first answer is used: content,
   * which is sent with the prompt, or why there is none. The wait ends with `signal`.
   */
  mention_read: {
    event: { text: string; signal: AbortSignal };
    result: { content: Content; problem?: never } | { content?: never; problem: string };
  };
  /** `@NAME:REST` is being typed. `text` and each `value` are what follows the `@`. A handler that takes long is not waited for. */
  mention_complete: {
    event: { text: string };
    result: { items: readonly { value: string; description?: string }[] };
  };
  /** Belongs to earlier versions of pi; never fired. */
  session_directory: { event: object; result: unknown };
  session_switch: { event: object; result: unknown };
  session_fork: { event: object; result: unknown };
}

interface UiPrompt {
  reason: "ui_prompt";
  /** `approval`: the policy asks the person about a call. The others are dialogs of extensions. */
  kind: "select" | "confirm" | "input" | "editor" | "custom" | "approval";
  title?: string;
}

export type ExtensionEventName = keyof EventTypes;

/** An event as a handler gets it. */
export type ExtensionEvent<Name extends ExtensionEventName = ExtensionEventName> = {
  [Key in Name]: { type: Key } & EventTypes[Key]["event"];
}[Name];

/** How a session, or its extensions, come to their end. */
export type SessionEnd = Omit<ExtensionEvent<"session_shutdown">, "type">;

/** The result that a handler may answer with. */
export type ExtensionResult<Name extends ExtensionEventName> = EventTypes[Name]["result"];

/** In the order in which a session fires them first, as far as there is one. */
export const extensionEventNames = [
  "project_trust",
  "session_start",
  "resources_discover",
  "session_info_changed",
  "session_before_switch",
  "session_before_fork",
  "session_before_compact",
  "session_compact",
  "session_compact_failed",
  "session_shutdown",
  "session_before_tree",
  "session_tree",
  "undo_request",
  "mcp_servers_change",
  "mention_complete",
  "input",
  "mention_read",
  "before_agent_start",
  "agent_start",
  "turn_start",
  "context",
  "context_with_system",
  "cache_warming_decision",
  "before_provider_request",
  "before_provider_headers",
  "after_provider_response",
  "provider_stream_event",
  "message_start",
  "message_update",
  "message_end",
  "tool_call",
  "tool_execution_start",
  "before_files_change",
  "tool_execution_update",
  "tools_discover",
  "files_changed",
  "tool_result",
  "tool_execution_end",
  "turn_end",
  "agent_end",
  "agent_before_settle",
  "agent_settled",
  "ui_prompt_start",
  "ui_prompt_end",
  "model_select",
  "thinking_level_select",
  "permission_mode_select",
  "user_bash",
  "session_directory",
  "session_switch",
  "session_fork",
] as const satisfies readonly ExtensionEventName[];

/** Events whose handlers guard something: one that throws or takes too long denies. */
export const guardEvents: ReadonlySet<ExtensionEventName> = new Set(["tool_call", "user_bash"]);
