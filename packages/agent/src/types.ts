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
  Usage,
} from "@tau/ai";

/**
 * Sends a request to a model. Should report every failure in the stream it returns; if it throws instead, the answer
 * fails in the same way.
 */
export type StreamFn = (
  model: Model,
  context: Context,
  options?: SimpleStreamOptions,
) => AssistantMessageEventStream | Promise<AssistantMessageEventStream>;

/**
 * How the calls of one answer are executed:
 *
 * - `parallel`: at the same time.
 * - `sequential`: one after the other. A steering message that arrives meanwhile skips the calls that are left.
 * - `ordered`: calls of tools with `readOnly` run together. Any other call starts when all calls before it have ended,
 *   and the calls after it wait for it. A tool with `executionMode` `parallel` neither waits nor is waited for.
 */
export type ToolExecutionMode = "sequential" | "parallel" | "ordered";

export type AgentToolCall = ToolCall;

export type ThinkingLevel = ModelThinkingLevel;

/**
 * Custom messages of an application. Extend it by declaration merging:
 *
 *     declare module "@tau/agent" {
 *       interface CustomAgentMessages {
 *         notification: { role: "notification"; text: string; timestamp: number };
 *       }
 *     }
 */
// oxlint-disable-next-line typescript/no-empty-object-type -- it is there to be extended
export interface CustomAgentMessages {}

/** A message of a transcript: one that models understand, or a custom one of the application. */
export type AgentMessage = Message | CustomAgentMessages[keyof CustomAgentMessages];

/** The result of a tool. */
// oxlint-disable-next-line typescript/no-explicit-any -- details belong to the tool that wrote them
export interface AgentToolResult<TDetails = any> {
  /** The part that the model reads. */
  content: (TextContent | ImageContent)[];
  /** For logs and surfaces; the model never sees it. */
  details?: TDetails;
  /** The call failed although the tool did not throw. Default false. */
  isError?: boolean;
  /** Ends the run after the calls of this answer, if every result of them has it. Default false. */
  terminate?: boolean;
  /** The result as data, for other tools and programs. The model never sees it. */
  structuredContent?: unknown;
  /** The cost of requests to models that the tool made by itself. The usage of calls made inside this one is added to it. */
  usage?: Usage;
}

/** A report of a tool while it runs. */
// oxlint-disable-next-line typescript/no-explicit-any -- details belong to the tool that wrote them
export interface AgentToolUpdate<TDetails = any> extends AgentToolResult<TDetails> {
  /** Default `partial-result`: the result so far. */
  updateType?: "stdout" | "stderr" | "progress" | "partial-result";
  /** 0 to 100. */
  progressPercent?: number;
}

// oxlint-disable-next-line typescript/no-explicit-any -- as above
export type AgentToolUpdateCallback<TDetails = any> = (update: AgentToolUpdate<TDetails>) => void;

/** A tool that can be executed. */
// oxlint-disable-next-line typescript/no-explicit-any -- a list of tools mixes parameters and details of all kinds
export interface AgentTool<TParameters extends ToolParameters = any, TDetails = any> extends Tool<TParameters> {
  /** The name that is shown to people. */
  label: string;
  /** Converts arguments before they are validated, for names and shapes that changed over time. */
  prepareArguments?: (args: unknown) => ToolArguments<TParameters>;
  /**
   * Executes a call. Throws on failure; the message of the error becomes the result of the call. Should stop when
   * `signal` aborts: a tool that does not is abandoned, and the call fails without it. Updates after it has settled are
   * ignored.
   */
  execute: (
    toolCallId: string,
    params: ToolArguments<TParameters>,
    signal?: AbortSignal,
    onUpdate?: AgentToolUpdateCallback<TDetails>,
  ) => Promise<AgentToolResult<TDetails>>;
  /**
   * `sequential` makes all calls of an answer sequential; `parallel` exempts this tool's calls from `ordered` execution.
   * Default: the run's `toolExecution`.
   */
  executionMode?: Exclude<ToolExecutionMode, "ordered">;
  /** The call changes nothing; calls that only read may run together in `ordered` execution. Default false. */
  readOnly?: boolean;
  /**
   * A call of this tool stands for a call of the tool that its arguments `{ name, arguments }` name: that one is found,
   * validated, judged, executed and reported, and this one never is. It cannot call itself. Default false.
   */
  callsNamedTool?: boolean;
}

/** How a tool call ended. */
export interface ToolCallOutcome {
  result: AgentToolResult;
  isError: boolean;
  /** Why the call failed; see `tool_execution_end`. Only of an error. */
  errorCode?: string;
  /** The `details` of the error that the tool threw, for the tool that called it. They are not in the log. */
  errorDetails?: unknown;
}

export interface NestedCallOptions {
  /** Default: the id of the running call, and a number that is unique in the run. */
  id?: string;
  /** The tools that can be called. Default: those of the run. */
  tools?: readonly AgentTool[];
  /** Aborts this call alone. */
  signal?: AbortSignal;
  onUpdate?: AgentToolUpdateCallback;
}

/** A call whose tool is being executed. */
export interface RunningToolCall {
  readonly toolCallId: string;
  readonly toolName: string;
  /** The call that this one is made in. */
  readonly parentToolCallId?: string;
  /** Whether its tool has settled: nothing can be called any more. */
  readonly hasEnded: boolean;
  /**
   * Makes a call inside this one. It takes the same path as a call of the model: validation, `beforeToolCall`,
   * `afterToolCall` and events, which carry this call's id as `parentToolCallId`. It is aborted when this call ends, and
   * always ends before it. Arguments and result are copied. Never rejects. After this call has ended nothing is executed or
   * reported, and the outcome is an error.
   */
  callTool(name: string, args: unknown, options?: NestedCallOptions): Promise<ToolCallOutcome>;
}

/** The input of a run. The loop copies it and never changes the original. */
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
  /** For a nested call its tools are those that can be called. One that `findTool` found is among them. */
  context: AgentContext;
  /** The call that this one is made in. */
  parentToolCallId?: string;
}

export interface BeforeToolCallResult {
  /** If true, the call is not executed and its result is an error. */
  block?: boolean;
  /** The text of that result. */
  reason?: string;
  /** Ends the run after the calls of this answer, if every result of them has it. Default false. */
  terminate?: boolean;
  /**
   * If true, the call is not executed and gets no result yet: the run ends after the calls of this answer, and `resumeAgentLoop`
   * makes the call again. Only for a call of the model. Default false.
   */
  postpone?: boolean;
}

export interface AfterToolCallContext extends BeforeToolCallContext {
  result: AgentToolResult;
  isError: boolean;
}

/** Replaces fields of a result. Fields that are left out stay as they are; fields are not merged. */
export interface AfterToolCallResult {
  content?: (TextContent | ImageContent)[];
  details?: unknown;
  isError?: boolean;
  terminate?: boolean;
  /** Removes that of the tool if it is given as undefined. */
  structuredContent?: unknown;
  usage?: Usage;
}

/** A turn that has ended. */
export interface TurnContext {
  message: AssistantMessage;
  toolResults: ToolResultMessage[];
  context: AgentContext;
  /** The messages that the run has added so far. */
  newMessages: AgentMessage[];
}

export type ShouldStopAfterTurnContext = TurnContext;
export type PrepareNextTurnContext = TurnContext;

/** Changes for the next turn. Fields that are left out stay as they are. */
export interface AgentLoopTurnUpdate {
  model?: Model;
  thinkingLevel?: ThinkingLevel;
  /** Replaces the working context: system prompt, messages and tools. */
  context?: AgentContext;
}

/**
 * The settings and hooks of a run. Every hook may throw: `beforeToolCall` then denies the call, `afterToolCall` makes its
 * result an error, and any other hook ends the run with an error message. A hook that never returns is abandoned when the
 * run is aborted.
 */
export interface AgentLoopConfig extends SimpleStreamOptions {
  model: Model;
  /** Converts the transcript to messages that models understand. Called before every request. */
  convertToLlm: (messages: AgentMessage[]) => Message[] | Promise<Message[]>;
  /** Changes a copy of the transcript for one request, before `convertToLlm`; for example to prune it. */
  transformContext?: (messages: AgentMessage[], signal?: AbortSignal) => AgentMessage[] | Promise<AgentMessage[]>;
  /** Called before every request: tokens may expire while tools run. If it returns undefined, `apiKey` is used. */
  getApiKey?: (provider: string) => string | undefined | Promise<string | undefined>;
  /** Called after each turn; true ends the run. */
  shouldStopAfterTurn?: (turn: ShouldStopAfterTurnContext) => boolean | Promise<boolean>;
  /** Called before each turn but the first. */
  prepareNextTurn?: (
    turn: PrepareNextTurnContext,
  ) => AgentLoopTurnUpdate | undefined | Promise<AgentLoopTurnUpdate | undefined>;
  /** Returns messages to add before the next request. In sequential execution they also skip the calls that are left. */
  getSteeringMessages?: () => AgentMessage[] | Promise<AgentMessage[]>;
  /** Returns messages that continue a run which would otherwise end. */
  getFollowUpMessages?: () => AgentMessage[] | Promise<AgentMessage[]>;
  /** Default `parallel`. */
  toolExecution?: ToolExecutionMode;
  /** Finds a tool that can be called although requests do not list it. If it throws, the call fails. */
  findTool?: (call: AgentToolCall, signal?: AbortSignal) => AgentTool | undefined | Promise<AgentTool | undefined>;
  /** The guard of calls: may block a call, after its arguments were validated. */
  beforeToolCall?: (
    call: BeforeToolCallContext,
    signal?: AbortSignal,
  ) => BeforeToolCallResult | undefined | Promise<BeforeToolCallResult | undefined>;
  /** Called when a tool is about to be executed, with a way to call others while it is. If it throws, the call fails. */
  onToolExecution?: (call: RunningToolCall) => void;
  /** Executes a tool by calling `execute` once, such as in a context of its own. Default: calls it. If it throws, the call fails. */
  aroundToolExecution?: <T>(toolCallId: string, execute: () => Promise<T>) => Promise<T>;
  /** May replace parts of a result. */
  afterToolCall?: (
    call: AfterToolCallContext,
    signal?: AbortSignal,
  ) => AfterToolCallResult | undefined | Promise<AfterToolCallResult | undefined>;
}

/** Arguments as the model sent them, before they were validated. */
// oxlint-disable-next-line typescript/no-explicit-any -- listeners that handle a tool know its arguments; the type cannot
type ToolCallArguments = any;

/**
 * The events of a run. Every `_start` has exactly one `_end`, also after an abort or a failure, and `agent_end` is the
 * last event. `message_update.message` is the live partial message: copy it to keep it. A call that a tool makes has the
 * id of that tool's call as its `parentToolCallId`, and ends before it.
 */
export type AgentEvent =
  | { type: "agent_start" }
  | { type: "agent_end"; messages: AgentMessage[] }
  | { type: "turn_start" }
  | { type: "turn_end"; message: AgentMessage; toolResults: ToolResultMessage[] }
  | { type: "message_start"; message: AgentMessage }
  | { type: "message_update"; message: AgentMessage; assistantMessageEvent: AssistantMessageEvent }
  | { type: "message_end"; message: AgentMessage }
  | {
      type: "tool_execution_start";
      toolCallId: string;
      toolName: string;
      args: ToolCallArguments;
      parentToolCallId?: string;
    }
  | {
      type: "tool_execution_update";
      toolCallId: string;
      toolName: string;
      args: ToolCallArguments;
      partialResult: AgentToolUpdate;
      parentToolCallId?: string;
    }
  | {
      type: "tool_execution_end";
      toolCallId: string;
      toolName: string;
      result: AgentToolResult;
      isError: boolean;
      parentToolCallId?: string;
      /**
       * Why the call failed: `denied`, `unknown_tool`, `invalid_arguments`, `aborted`, `skipped` (by steering), `truncated`
       * (with its answer), `postponed` (it has no result yet), `not_executed` (the run had failed), `too_deep` (too many calls inside each other), else the `code` of the tool's error, else `tool_failed`.
       */
      errorCode?: string;
    };

/** Is called with events, in order: the next event comes when the promise for the last has settled. */
export type AgentEventSink = (event: AgentEvent) => void | Promise<void>;

/** The state of an agent, between and during runs. Assigning `tools` or `messages` copies the list. */
export interface AgentState {
  systemPrompt: string;
  model: Model;
  thinkingLevel: ThinkingLevel;
  tools: AgentTool[];
  messages: AgentMessage[];
  /** True until the listeners of `agent_end` have settled. */
  readonly isStreaming: boolean;
  /** The message that is arriving. */
  readonly streamingMessage?: AgentMessage | undefined;
  /** Ids of the calls that are being executed. */
  readonly pendingToolCalls: ReadonlySet<string>;
  /** Why the last turn failed or was aborted. */
  readonly errorMessage?: string | undefined;
}
