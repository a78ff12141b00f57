/**
 * Providers that somebody describes instead of coding a protocol: how a request is built, how an answer is read, where
 * the key goes. Everything else is as for the built-in ones: time limits, retries, abort, classified failures.
 */
import { getModel, registerModels, unregisterModels } from "./catalog/catalog.ts";
import type { Context } from "./context.ts";
import { AiError } from "./errors.ts";
import type { Model, ModelCost } from "./model.ts";
import type { SimpleStreamOptions } from "./options.ts";
import { assumedLimits } from "./providers/local-servers.ts";
import { startRequest } from "./protocols/start.ts";
import { type ApiProvider, registerApiProvider, unregisterApiProviders } from "./registry.ts";

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

/** A provider that is in place. */
export interface RegisteredProvider {
  readonly name: string;
  readonly displayName: string;
  readonly models: readonly Model[];
  readonly defaultModel: Model;
  /** Takes the provider and its models away again. Does nothing once another has taken its name. */
  unregister(): void;
}

const registered = new Map<string, RegisteredProvider>();

/** Puts a provider in place under its own name. */
export function createProvider<TConfig>(definition: Provider<TConfig>): RegisteredProvider {
  return registerProvider(definition.name, definition);
}

/** Puts a provider in place under `name`, instead of one that had it. Throws when the definition cannot work. */
export function registerProvider<TConfig>(name: string, definition: Provider<TConfig>): RegisteredProvider {
  checkDefinition(name, definition);
  registered.get(name)?.unregister();
  const api = `custom:${name}`;
  const displayName = definition.displayName ?? name;
  registerApiProvider(customApiProvider({ api, called: displayName, definition }), api);
  registerModels(
    name,
    definition.models.map((model) => describeModel(api, model)),
  );
  const models = definition.models.map(({ id }) => getModel(name, id)!);
  const provider: RegisteredProvider = {
    name,
    displayName,
    models,
    defaultModel: models.find(({ id }) => id === definition.defaultModel) ?? models[0]!,
    unregister() {
      if (registered.get(name) !== provider) return;
      registered.delete(name);
      unregisterModels(name);
      unregisterApiProviders(api);
    },
  };
  registered.set(name, provider);
  return provider;
}

/** The custom provider of that name, if there is one. */
export const getRegisteredProvider = (name: string): RegisteredProvider | undefined => registered.get(name);

/** `stream` and `streamSimple` are the same: a custom provider has no options of its own. */
function customApiProvider<TConfig>(provider: CustomProvider<TConfig>): ApiProvider {
  const ask = (model: Model, context: Context, options: CustomProviderOptions = {}) => {
    const load = async () =>
      (await import("./custom-protocol.ts")).customProtocol(provider, { model, context, options });
    return startRequest(load, { model, context, options: () => options, clock: options.clock });
  };
  return { api: provider.api, stream: ask, streamSimple: ask };
}

const describeModel = (api: string, model: ProviderModel) => ({
  api,
  baseUrl: "",
  reasoning: false,
  input: ["text" as const],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  ...assumedLimits,
  ...model,
  compat: { supportsTools: false },
});

function checkDefinition<TConfig>(name: string, definition: Provider<TConfig>): void {
  const { models = [], defaultModel, buildRequest, parseResponse } = definition;
  const ids = models.map(({ id }) => id);
  const problems: readonly [boolean, string][] = [
    [!name, "it has no name"],
    [ids.length === 0, "it has no models"],
    [new Set(ids).size < ids.length, "two of its models have the same id"],
    [defaultModel !== undefined && !ids.includes(defaultModel), "its default model is not among its models"],
    [typeof buildRequest !== "function", "buildRequest is not a function"],
    [typeof parseResponse !== "function", "parseResponse is not a function"],
  ];
  const problem = problems.find(([applies]) => applies);
  if (!problem) return;
  throw new AiError("invalid_provider", `The provider ${JSON.stringify(name)} cannot work: ${problem[1]}.`);
}
