import type {
  AssistantMessage,
  AssistantMessageEvent,
  AssistantMessageEventStream,
  Context,
  ImageContent,
  Message,
  Model,
  ModelThinkingLevel,
  SimpleStreamOptions,
  TextContent,
  Tool,
  ToolArguments,
  ToolCall,
  ToolParameters,
  ToolResultMessage,
} from "@tau/ai";

/**
 * Asks a model. Should put every failure into the stream it returns; one that throws instead is treated as if it had.
 */
export type StreamFn = (
  model: Model,
  context: Context,
  options?: SimpleStreamOptions,
) => AssistantMessageEventStream | Promise<AssistantMessageEventStream>;

/** `parallel` runs the calls of one message at the same time, `sequential` one after the other. */
export type ToolExecutionMode = "sequential" | "parallel";

export type AgentToolCall = ToolCall;

export type ThinkingLevel = ModelThinkingLevel;

/**
 * Messages of an application's own. Extend it by declaration merging:
 *
 *     declare module "@tau/agent" {
 *       interface CustomAgentMessages {
 *         notification: { role: "notification"; text: string; timestamp: number };
 *       }
 *     }
 */
// oxlint-disable-next-line typescript/no-empty-object-type -- it is there to be extended
export interface CustomAgentMessages {}

/** What a transcript holds: what models understand, and what the application adds. */
export type AgentMessage = Message | CustomAgentMessages[keyof CustomAgentMessages];

/** What a tool gives back. */
// oxlint-disable-next-line typescript/no-explicit-any -- details belong to the tool that wrote them
export interface AgentToolResult<TDetails = any> {
  /** What the model reads. */
  content: (TextContent | ImageContent)[];
  /** For logs and surfaces; the model never sees it. */
  details?: TDetails;
  /** Asks to end the run after this batch of calls. It ends only if every result of the batch asks for it. */
  terminate?: boolean;
}

/** What a tool says while it runs. */
// oxlint-disable-next-line typescript/no-explicit-any -- details belong to the tool that wrote them
export interface AgentToolUpdate<TDetails = any> extends AgentToolResult<TDetails> {
  /** What kind of update it is. Default `partial-result`: the result as far as it has come. */
  updateType?: "stdout" | "stderr" | "progress" | "partial-result";
  /** 0 to 100. */
  progressPercent?: number;
}

// oxlint-disable-next-line typescript/no-explicit-any -- as above
export type AgentToolUpdateCallback<TDetails = any> = (update: AgentToolUpdate<TDetails>) => void;

/** A tool that can be executed. */
// oxlint-disable-next-line typescript/no-explicit-any -- a list of tools mixes parameters and details of all kinds
export interface AgentTool<TParameters extends ToolParameters = any, TDetails = any> extends Tool<TParameters> {
  /** For people. */
  label: string;
  /** Puts raw arguments right before they are validated, for names and shapes that changed over time. */
  prepareArguments?: (args: unknown) => ToolArguments<TParameters>;
  /**
   * Does the work. Throws on failure; the text of what it throws becomes the call's outcome. Should stop when `signal`
   * aborts: one that does not is left behind, and the call gets its outcome without it. Updates after it has settled
   * are ignored.
   */
  execute: (
    toolCallId: string,
    params: ToolArguments<TParameters>,
    signal?: AbortSignal,
    onUpdate?: AgentToolUpdateCallback<TDetails>,
  ) => Promise<AgentToolResult<TDetails>>;
  /** `sequential` makes the whole batch sequential. Default: the run's `toolExecution`. */
  executionMode?: ToolExecutionMode;
  /** The call changes nothing. Calls that only read may run together. */
  readOnly?: boolean;
}

/** What a run works on. The loop copies it and never changes the original. */
export interface AgentContext {
  systemPrompt: string;
  messages: AgentMessage[];
  tools?: AgentTool[];
}

export interface BeforeToolCallContext {
  assistantMessage: AssistantMessage;
  toolCall: AgentToolCall;
  /** Validated. */
  args: unknown;
  context: AgentContext;
}

export interface BeforeToolCallResult {
  /** The call is not executed; its outcome is an error. */
  block?: boolean;
  /** The text of that outcome. */
  reason?: string;
}

export interface AfterToolCallContext extends BeforeToolCallContext {
  result: AgentToolResult;
  isError: boolean;
}

/** What replaces parts of a result. Fields that are left out stay as they are; nothing is merged deeper. */
export interface AfterToolCallResult {
  content?: (TextContent | ImageContent)[];
  details?: unknown;
  isError?: boolean;
  terminate?: boolean;
}

/** A turn that is over. */
export interface TurnContext {
  message: AssistantMessage;
  toolResults: ToolResultMessage[];
  context: AgentContext;
  /** What the run would return if it ended here. */
  newMessages: AgentMessage[];
}

export type ShouldStopAfterTurnContext = TurnContext;
export type PrepareNextTurnContext = TurnContext;

/** What changes for the next turn. Fields that are left out stay as they are. */
export interface AgentLoopTurnUpdate {
  model?: Model;
  thinkingLevel?: ThinkingLevel;
  /** Replaces the working context: system prompt, messages and tools. */
  context?: AgentContext;
}

/**
 * How a run behaves. Every hook may throw: a guard that throws denies its call, a review that throws makes it an error,
 * any other hook that throws ends the run with an error message. A hook that never returns is given up when the run is aborted.
 */
export interface AgentLoopConfig extends SimpleStreamOptions {
  model: Model;
  /** Turns the transcript into what a model understands. Called before every request. */
  convertToLlm: (messages: AgentMessage[]) => Message[] | Promise<Message[]>;
  /** Changes the transcript for one request, before `convertToLlm`: pruning, injecting. It gets a copy. */
  transformContext?: (messages: AgentMessage[], signal?: AbortSignal) => AgentMessage[] | Promise<AgentMessage[]>;
  /** Called before every request: tokens may expire while tools run. Undefined falls back to `apiKey`. */
  getApiKey?: (provider: string) => string | undefined | Promise<string | undefined>;
  /** Called after each turn; true ends the run. */
  shouldStopAfterTurn?: (turn: ShouldStopAfterTurnContext) => boolean | Promise<boolean>;
  /** Called before each turn but the first. */
  prepareNextTurn?: (
    turn: PrepareNextTurnContext,
  ) => AgentLoopTurnUpdate | undefined | Promise<AgentLoopTurnUpdate | undefined>;
  /** Messages that go in before the next request. In a sequential batch they also skip the calls that are left. */
  getSteeringMessages?: () => AgentMessage[] | Promise<AgentMessage[]>;
  /** Messages that keep the run going when it would end. */
  getFollowUpMessages?: () => AgentMessage[] | Promise<AgentMessage[]>;
  /** Default `parallel`. */
  toolExecution?: ToolExecutionMode;
  /** May block a call, after its arguments were validated. */
  beforeToolCall?: (
    call: BeforeToolCallContext,
    signal?: AbortSignal,
  ) => BeforeToolCallResult | undefined | Promise<BeforeToolCallResult | undefined>;
  /** May replace parts of a result. */
  afterToolCall?: (
    call: AfterToolCallContext,
    signal?: AbortSignal,
  ) => AfterToolCallResult | undefined | Promise<AfterToolCallResult | undefined>;
}

/** What the model sent, before it was validated. */
// oxlint-disable-next-line typescript/no-explicit-any -- who listens to a tool knows its arguments; the type cannot
export type ToolCallArguments = any;

/**
 * What happens in a run, in order. Every `_start` has exactly one `_end`, also after an abort or a failure, and nothing
 * follows `agent_end`. `message_update.message` is the live partial: who keeps it, copies it.
 */
export type AgentEvent =
  | { type: "agent_start" }
  | { type: "agent_end"; messages: AgentMessage[] }
  | { type: "turn_start" }
  | { type: "turn_end"; message: AgentMessage; toolResults: ToolResultMessage[] }
  | { type: "message_start"; message: AgentMessage }
  | { type: "message_update"; message: AgentMessage; assistantMessageEvent: AssistantMessageEvent }
  | { type: "message_end"; message: AgentMessage }
  | { type: "tool_execution_start"; toolCallId: string; toolName: string; args: ToolCallArguments }
  | {
      type: "tool_execution_update";
      toolCallId: string;
      toolName: string;
      args: ToolCallArguments;
      partialResult: AgentToolUpdate;
    }
  | { type: "tool_execution_end"; toolCallId: string; toolName: string; result: AgentToolResult; isError: boolean };

/** Takes events, in order: the next one comes when the promise of the last has settled. */
export type AgentEventSink = (event: AgentEvent) => void | Promise<void>;

/** What an agent is, between and during runs. Assigning `tools` or `messages` copies the list. */
export interface AgentState {
  systemPrompt: string;
  model: Model;
  thinkingLevel: ThinkingLevel;
  tools: AgentTool[];
  messages: AgentMessage[];
  /** True until the listeners of `agent_end` have settled. */
  readonly isStreaming: boolean;
  /** The answer that is arriving. */
  readonly streamingMessage?: AgentMessage | undefined;
  /** Ids of the calls that are being executed. */
  readonly pendingToolCalls: ReadonlySet<string>;
  /** Why the last turn failed or was aborted. */
  readonly errorMessage?: string | undefined;
}
