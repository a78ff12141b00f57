/** What somebody has to say about a provider of their own. */
import type { ModelCost } from "./model.ts";
import type { SimpleStreamOptions } from "./options.ts";

/** One message as a custom provider gets it: text only. Roles alternate after the system prompt. */
export interface ChatMessage {
  role: "system" | "user" | "assistant";
  content: string;
}

export interface ChatUsage {
  inputTokens: number;
  outputTokens: number;
}

/** A whole answer. */
export interface ChatCompletionResponse {
  content: string;
  /** The model that answered; `unknown` says nothing. */
  model?: string;
  usage?: ChatUsage;
  /** `length` and `max_tokens` mean cut off, `content_filter` and `refusal` a refusal, anything else a normal end. */
  finishReason?: string;
}

/** A piece of an answer. The facts beside `delta` may come with any piece. */
export interface StreamChunk extends Partial<Omit<ChatCompletionResponse, "content">> {
  delta: string;
  /** This was the last piece. `data: [DONE]` ends an answer too, whatever is made of it. */
  done: boolean;
}

/** Where the key comes from and goes to. */
export interface ProviderAuth {
  type: "api-key";
  /** The header that carries the key, unless `buildRequest` has set it. */
  header: string;
  /** Stands before the key, with a space between. */
  prefix?: string;
  /** The environment variable that holds the key when none is passed. */
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
  /** Sent as JSON. What the server answers decides how it is read: as one document, or as server-sent events. */
  body: Record<string, unknown>;
}

/**
 * A provider, described. It takes and gives text: tools are left out with a diagnostic, images become a note, and
 * earlier tool calls are told as text. Whatever its functions throw ends the request's stream in an `error` event.
 */
export interface Provider<TConfig = Record<string, unknown>> {
  name: string;
  /** For people. Default: the name. */
  displayName?: string;
  models: readonly ProviderModel[];
  /** Default: the first model. */
  defaultModel?: string;
  /** Without it, requests are made without a key. */
  auth?: ProviderAuth;
  /** `config` is what `createAI` or the request's `config` option gave, with the resolved key as `apiKey`. */
  buildRequest(config: TConfig, model: string, messages: ChatMessage[]): ProviderRequest;
  /** Reads an answer that came as one JSON document. */
  parseResponse(response: unknown): ChatCompletionResponse;
  /** Reads one server-sent event: `data: ` and what the server sent. Null means that it says nothing. */
  parseStreamChunk?(chunk: string): StreamChunk | null;
  /** What a person should read for a status. What a program decides on still comes from the response. */
  errorMap?: Readonly<Record<number, string>>;
}

/** Options of a request to a custom provider. */
export interface CustomProviderOptions extends SimpleStreamOptions {
  /** What `buildRequest` gets. */
  config?: unknown;
}

/** A definition, and what it is known as. */
export interface CustomProvider<TConfig> {
  api: string;
  /** What people call it. */
  called: string;
  definition: Provider<TConfig>;
}
