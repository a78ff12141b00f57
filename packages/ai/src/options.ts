import type { Clock, Random } from "./clock.ts";
import type { Model, ModelThinkingLevel, ThinkingBudgets } from "./model.ts";

/** Accepted for compatibility; everything but `sse` and `auto` falls back to SSE with a diagnostic. */
export type Transport = "sse" | "websocket" | "websocket-cached" | "auto";

/** How long the provider should keep the prompt's prefix. */
export type CacheRetention = "none" | "short" | "long";

/**
 * Whether the model may, must or must not call tools, or which one it must call. The providers' own spellings of the
 * same (`required`, `{type:"tool",name}`, `{type:"function",function:{name}}`) are accepted too.
 */
export type ToolChoice =
  | "auto"
  | "any"
  | "required"
  | "none"
  | { name: string }
  | { type: "auto" | "any" | "none" | "required" }
  | { type: "tool"; name: string }
  | { type: "function"; function: { name: string } };

export interface ProviderResponse {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string>;
}

/** Options of one request, for every provider. */
export interface StreamOptions {
  temperature?: number;
  /** The longest answer, in tokens. Default: the provider's; where it has none, the model's, at most 32,000. */
  maxTokens?: number;
  toolChoice?: ToolChoice;
  /** Stops the request, its retries and its waits at once; the stream then ends with reason `aborted`. */
  signal?: AbortSignal;
  /** Default: the provider's environment variable. */
  apiKey?: string;
  /** Default `auto`. */
  transport?: Transport;
  /** Default `short`. */
  cacheRetention?: CacheRetention;
  /** Groups requests of one conversation for caching and routing. */
  sessionId?: string;
  /** Added to the request; `null` removes a header that would be sent otherwise. */
  headers?: Record<string, string | null>;
  /** Looked up before the process's environment: keys, regions, endpoint placeholders, proxies. */
  env?: Record<string, string>;
  /** Provider-specific facts about the caller, such as Anthropic's `user_id`. */
  metadata?: Record<string, unknown>;
  /** Sees the payload before it is sent; what it returns, other than `undefined`, is sent instead. */
  onPayload?: (payload: unknown, model: Model) => unknown;
  /** Called once the response's head is here, for every attempt. */
  onResponse?: (response: ProviderResponse, model: Model) => void | Promise<void>;
  /** Longest time for one attempt, from sending to the last byte. Default 3,600,000 (an hour); 0 means no limit. */
  timeoutMs?: number;
  /** Longest time without content; pings do not count. Default 300,000 (five minutes); 0 means no limit. */
  idleTimeoutMs?: number;
  /** Attempts after the first, made only while nothing has been shown. Default 2. */
  maxRetries?: number;
  /** A provider that asks for a longer wait than this gets none: the request fails. Default 60,000; 0 means no cap. */
  maxRetryDelayMs?: number;
  /** Default: the system's. */
  clock?: Clock;
  /** Default: the system's. */
  random?: Random;
}

/** The same options for every provider, plus thinking by level. */
export interface SimpleStreamOptions extends StreamOptions {
  /** Unset means off. A level the model does not have becomes the nearest one it has. */
  reasoning?: ModelThinkingLevel;
  /** Overrides the budgets behind the levels, for models that think by budget. */
  thinkingBudgets?: ThinkingBudgets;
}

/** Options of `stream`: the shared ones plus whatever the model's protocol understands. */
export type ProviderStreamOptions = StreamOptions & Record<string, unknown>;
