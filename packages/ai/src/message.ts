import type { Failure } from "./failure.ts";
import type { Api, ProviderId } from "./model.ts";

/** `textSignature` is opaque provider state that must be sent back with the block. */
export interface TextContent {
  type: "text";
  text: string;
  textSignature?: string;
}

/**
 * A model's reasoning. The provider needs `thinkingSignature` to accept the block again; other models cannot use it.
 * If `redacted` is set, `thinking` is not readable text and the signature is the encrypted payload.
 */
export interface ThinkingContent {
  type: "thinking";
  thinking: string;
  thinkingSignature?: string;
  redacted?: boolean;
}

/** `data` is base64 without a `data:` prefix. */
export interface ImageContent {
  type: "image";
  data: string;
  mimeType: string;
}

export interface ToolCall {
  type: "toolCall";
  id: string;
  name: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- the tool's schema decides the type; validation checks it
  arguments: Record<string, any>;
  thoughtSignature?: string;
  /**
   * Set if the complete arguments were not a JSON object or were nested too deeply. `arguments` is then `{}`, and
   * `validateToolArguments` throws this text: a malformed call gets a result but is never executed.
   */
  argumentsError?: string;
  /** The whole arguments, if they were a text and not a JSON object. Some tools take such a text; see `prepareArguments`. */
  argumentsText?: string;
  /**
   * The tool that the model called to reach this one, which its request did not list. Requests show that call: the tool
   * `via` with `{ name, arguments }` as its arguments. See `unwrapToolCall`.
   */
  via?: string;
}

/** Token counts of one response. All numbers are finite and not negative, whatever the provider sent. */
export interface Usage {
  /** Prompt tokens that were neither read from nor written to a cache. */
  input: number;
  /** Generated tokens, including thinking. */
  output: number;
  cacheRead: number;
  cacheWrite: number;
  /** The part of `output` spent on thinking, if the provider reports it. */
  reasoning?: number;
  /** The part of `cacheWrite` kept for an hour, if the provider reports it. It costs more. */
  cacheWrite1h?: number;
  totalTokens: number;
  /** US dollars. */
  cost: { input: number; output: number; cacheRead: number; cacheWrite: number; total: number };
}

export type StopReason = "stop" | "length" | "toolUse" | "error" | "aborted";

/** A problem that did not stop the request, such as a dropped tool, a retry or a silent truncation. */
export interface AssistantMessageDiagnostic {
  type: string;
  /** Milliseconds since the epoch. */
  timestamp: number;
  error?: { name?: string; message: string; code?: string | number };
  details?: Record<string, unknown>;
}

export interface UserMessage {
  role: "user";
  content: string | (TextContent | ImageContent)[];
  /** Milliseconds since the epoch. */
  timestamp: number;
}

export interface AssistantMessage {
  role: "assistant";
  content: (TextContent | ThinkingContent | ToolCall)[];
  api: Api;
  provider: ProviderId;
  /** The requested model id. */
  model: string;
  /** The id of the model that answered, if it is not the requested one. */
  responseModel?: string;
  responseId?: string;
  diagnostics?: AssistantMessageDiagnostic[];
  usage: Usage;
  stopReason: StopReason;
  /** The stop reason as the provider sent it. */
  rawStopReason?: string;
  /** Only with `stopReason` `error` or `aborted`: the message for the user. */
  errorMessage?: string;
  /** Only with `stopReason` `error` or `aborted`: the failure that programs should decide on. */
  failure?: Failure;
  /** When the request started, milliseconds since the epoch. */
  timestamp: number;
}

// oxlint-disable-next-line typescript/no-explicit-any -- details belong to the tool that wrote them
export interface ToolResultMessage<TDetails = any> {
  role: "toolResult";
  toolCallId: string;
  toolName: string;
  content: (TextContent | ImageContent)[];
  details?: TDetails;
  isError: boolean;
  /** The cost of requests that the tool made by itself. */
  usage?: Usage;
  timestamp: number;
}

export type Message = UserMessage | AssistantMessage | ToolResultMessage;
