import type { Clock, Random } from "./clock.ts";
import type { JsonSchema } from "./context.ts";
import type { Model, ModelThinkingLevel, SamplingParams, ThinkingBudgets } from "./model.ts";

/**
 * How an answer arrives. With `websocket`, a request of a Responses API opens a WebSocket; with `websocket-cached`, the
 * requests of a session share one, and send only the input that is new. Where the API or the server has none, and in a
 * browser, server-sent events are used and a diagnostic says so. `auto` is `sse`.
 */
export type Transport = "sse" | "websocket" | "websocket-cached" | "auto";

/** How long the provider should cache the prompt's prefix. */
export type CacheRetention = "none" | "short" | "long";

type ServiceTier = "auto" | "default" | "flex" | "priority" | (string & {});

/**
 * Whether the model may, must or must not call tools, or which tool it must call. The providers' own forms (`required`,
 * `{type:"tool",name}`, `{type:"function",function:{name}}`) are accepted too.
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

/** A form of an answer. */
export interface OutputFormat {
  /** At most 64 letters, digits, `_` and `-`. */
  name: string;
  schema: JsonSchema;
}

export interface ProviderResponse {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string>;
}

/** Options of one request, for every provider. */
export interface StreamOptions {
  temperature?: number;
  /** Added to the model's `samplingParams` and replaces them by name. Only OpenAI-compatible APIs apply it. */
  samplingParams?: SamplingParams;
  /** Maximum tokens of the answer. Default: the provider's; if it has none, the model's, at most 32,000. */
  maxTokens?: number;
  toolChoice?: ToolChoice;
  /**
   * Makes the provider enforce that the answer is JSON of this form, where the API and the model can; a diagnostic says where not.
   * Optional properties may come as null. Check the answer in any case.
   */
  output?: OutputFormat;
  /** Stops the request and its retries at once; the stream then ends with reason `aborted`. */
  signal?: AbortSignal;
  /** Default: the provider's environment variable. */
  apiKey?: string;
  /**
   * Ends the message if there is no key, or if the provider rejects it: where the key is from, or how to give one. Default:
   * the name of the environment variable, or of the option.
   */
  keyHint?: string;
  /** Default `auto`. */
  transport?: Transport;
  /** Default `short`. */
  cacheRetention?: CacheRetention;
  /** The service that OpenAI is asked for; other APIs have none. Default: the account's. */
  serviceTier?: ServiceTier;
  /** Groups requests of one conversation for caching and routing. */
  sessionId?: string;
  /** Added to the request; `null` removes a header that would be sent otherwise. */
  headers?: Record<string, string | null>;
  /** Environment variables that override the process's: keys, regions, endpoint placeholders, proxies. */
  env?: Record<string, string>;
  /**
   * Whether keys, addresses and proxies may also come from the machine: the environment of the process, files such as those of AWS and
   * Google Cloud, and metadata services. Default true; false where a request is made for somebody else.
   */
  ambientCredentials?: boolean;
  /** Provider-specific data about the caller, such as Anthropic's `user_id`. */
  metadata?: Record<string, unknown>;
  /** Called with the payload before it is sent. A return value other than `undefined` is sent instead. */
  onPayload?: (payload: unknown, model: Model) => unknown;
  /**
   * Called with the headers before each attempt, those that carry the key included; names are in lower case. They may be
   * changed in place: null removes one.
   */
  onHeaders?: (headers: Record<string, string | null>, model: Model) => void | Promise<void>;
  /** Called with each parsed event of the provider's stream, before it is understood. Must not change it. */
  onProviderStreamEvent?: (data: unknown, model: Model) => void;
  /** Called when the response's status and headers have arrived, for every attempt. */
  onResponse?: (response: ProviderResponse, model: Model) => void | Promise<void>;
  /** Maximum time for one attempt, from sending to the last byte. Default 3,600,000 (an hour); 0 means no limit. */
  timeoutMs?: number;
  /** Maximum time without content; pings are not content. Default 300,000 (five minutes); 0 means no limit. */
  idleTimeoutMs?: number;
  /** Attempts after the first. A request is not retried once it has emitted an event. Default 2. */
  maxRetries?: number;
  /** If the provider asks for a longer delay than this, the request fails. Default 60,000; 0 means no limit. */
  maxRetryDelayMs?: number;
  /** Default: the system's. */
  clock?: Clock;
  /** Default: the system's. */
  random?: Random;
}

/** The options that all providers share, plus a thinking level. */
export interface SimpleStreamOptions extends StreamOptions {
  /** Default `off`. A level that the model does not support becomes the nearest supported one. */
  reasoning?: ModelThinkingLevel;
  /** Overrides the token budgets of the levels, for models that think by budget. */
  thinkingBudgets?: ThinkingBudgets;
}

/** Options of `stream`: the shared ones plus those of the model's API. */
export type ProviderStreamOptions = StreamOptions & Record<string, unknown>;
