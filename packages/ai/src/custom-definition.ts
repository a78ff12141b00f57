/** The types with which a custom provider is described. */
import type { ModelCost } from "./model.ts";
import type { SimpleStreamOptions } from "./options.ts";

/** A message as a custom provider receives it: text only. Roles alternate after the system prompt. */
export interface ChatMessage {
  role: "system" | "user" | "assistant";
  content: string;
}

export interface ChatUsage {
  inputTokens: number;
  outputTokens: number;
  /** US dollars, if the service reports them. Default: computed from the prices of the model. */
  cost?: number;
}

/** A complete answer. */
export interface ChatCompletionResponse {
  content: string;
  /** The model that answered. `unknown` is the same as not set. */
  model?: string;
  usage?: ChatUsage;
  /** `length` and `max_tokens` mean cut off, `content_filter` and `refusal` a refusal, anything else a normal end. */
  finishReason?: string;
}

/** A piece of an answer. The fields other than `delta` may come with any piece. */
export interface StreamChunk extends Partial<Omit<ChatCompletionResponse, "content">> {
  delta: string;
  /** Whether this is the last piece. `data: [DONE]` always ends the answer. */
  done: boolean;
}

/** Where the key is read from and which header carries it. */
export interface ProviderAuth {
  type: "api-key";
  /** The header that carries the key. A header of the same name set by `buildRequest` wins. */
  header: string;
  /** Put before the key, separated by a space. */
  prefix?: string;
  /** The environment variable to read the key from if none is passed. */
  envVar?: string;
}

export interface ProviderModel {
  id: string;
  name: string;
  /** Tokens. Default 32,768. */
  contextWindow?: number;
  /** Tokens. Default 8,192. */
  maxTokens?: number;
  /** Default: free. */
  cost?: ModelCost;
  firstTokenTimeoutMs?: number;
}

export interface ProviderRequest {
  url: string;
  method?: "POST";
  headers?: Record<string, string>;
  /** Sent as JSON. The response may be one JSON document or server-sent events; which one is detected. */
  body: Record<string, unknown>;
}

/**
 * A custom provider. It is text only: tools are left out with a diagnostic, images are replaced by a note, and earlier
 * tool calls are written out as text. If one of its functions throws, the request's stream ends in an `error` event.
 */
export interface Provider<TConfig = Record<string, unknown>> {
  name: string;
  /** Shown to the user. Default: `name`. */
  displayName?: string;
  models: readonly ProviderModel[];
  /** Default: the first model. */
  defaultModel?: string;
  /** If not set, requests are sent without a key. */
  auth?: ProviderAuth;
  /** `config` is the `config` of `createAI` or of the request, plus the resolved key as `apiKey`. */
  buildRequest(config: TConfig, model: string, messages: ChatMessage[]): ProviderRequest;
  /** Parses an answer that came as one JSON document. */
  parseResponse(response: unknown): ChatCompletionResponse;
  /** Parses one server-sent event, passed as `data: ` plus its data. Return null to ignore the event. */
  parseStreamChunk?(chunk: string): StreamChunk | null;
  /** Error messages by HTTP status, shown to the user. The failure's `kind` still comes from the response. */
  errorMap?: Readonly<Record<number, string>>;
}

/** Options of a request to a custom provider. */
export interface CustomProviderOptions extends SimpleStreamOptions {
  /** Passed to `buildRequest`. */
  config?: unknown;
}

/** A definition with its names. */
export interface CustomProvider<TConfig> {
  api: string;
  displayName: string;
  definition: Provider<TConfig>;
}
