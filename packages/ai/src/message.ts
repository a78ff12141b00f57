import type { Failure } from "./failure.ts";
import type { Api, ProviderId } from "./model.ts";

/** Text. `textSignature` is opaque provider state that must travel back with the block. */
export interface TextContent {
  type: "text";
  text: string;
  textSignature?: string;
}

/**
 * A model's reasoning. `thinkingSignature` is what the provider needs to accept the block again; it is meaningless to
 * every other model. With `redacted`, `thinking` holds nothing readable and the signature is the encrypted payload.
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
  // oxlint-disable-next-line typescript/no-explicit-any -- arguments are whatever the tool's schema says; validation types them
  arguments: Record<string, any>;
  thoughtSignature?: string;
  /**
   * Set when the complete arguments were not a JSON object, or were nested too deeply. `arguments` is then `{}`, and
   * `validateToolArguments` fails with this text, so that a malformed call is answered and never executed.
   */
  argumentsError?: string;
}

/** Tokens of one response. All numbers are finite and not negative, whatever the provider sent. */
export interface Usage {
  /** Prompt tokens that were neither read from nor written to a cache. */
  input: number;
  /** Generated tokens, thinking included. */
  output: number;
  cacheRead: number;
  cacheWrite: number;
  /** The part of `output` spent on thinking, where the provider says so. */
  reasoning?: number;
  /** The part of `cacheWrite` kept for an hour, where the provider says so; it costs more. */
  cacheWrite1h?: number;
  totalTokens: number;
  /** US dollars. */
  cost: { input: number; output: number; cacheRead: number; cacheWrite: number; total: number };
}

export type StopReason = "stop" | "length" | "toolUse" | "error" | "aborted";

/** Something worth knowing that did not stop the request: a dropped tool, a retry, a silent truncation. */
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
  /** The id that was asked for. */
  model: string;
  /** The id that answered, when the provider says another. */
  responseModel?: string;
  responseId?: string;
  diagnostics?: AssistantMessageDiagnostic[];
  usage: Usage;
  stopReason: StopReason;
  /** The provider's own word for why it stopped. */
  rawStopReason?: string;
  /** Only with `stopReason` `error` or `aborted`: what a person should read. */
  errorMessage?: string;
  /** Only with `stopReason` `error` or `aborted`: what a program should decide on. */
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
  timestamp: number;
}

export type Message = UserMessage | AssistantMessage | ToolResultMessage;
