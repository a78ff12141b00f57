/** Binds a model to its options and to what sends its requests. Knows no catalogue, so that a bundle may do without. */
import type { Context } from "./context.ts";
import { AiError } from "./errors.ts";
import type { AssistantMessageEventStream } from "./event-stream.ts";
import type { AssistantMessage } from "./message.ts";
import type { Model } from "./model.ts";
import { didYouMean } from "./nearest.ts";
import type { ProviderStreamOptions, SimpleStreamOptions } from "./options.ts";

/** A model, bound to its key and configuration. Options of a single request override the bound ones. */
export interface AI {
  readonly model: Model;
  /** Says what is assumed of a model that the catalogue does not have. Absent for any other model. */
  readonly notice?: string;
  /** Takes the options of the model's API. */
  stream(context: Context, options?: ProviderStreamOptions): AssistantMessageEventStream;
  complete(context: Context, options?: ProviderStreamOptions): Promise<AssistantMessage>;
  /** Takes options that mean the same for every provider. */
  streamSimple(context: Context, options?: SimpleStreamOptions): AssistantMessageEventStream;
  completeSimple(context: Context, options?: SimpleStreamOptions): Promise<AssistantMessage>;
}

/** The options of a model that is not of a custom provider. */
export interface ModelOptions {
  /** Default: the provider's environment variable. */
  apiKey?: string | undefined;
  /** Replaces the model's base URL, such as that of a proxy. */
  baseUrl?: string | undefined;
  /**
   * Default options of every request. `baseUrl` and `apiKey` among them are used if those above are not set.
   */
  config?: object;
}

/** A model with its options, to be passed to `createAI`. */
export interface SelectedModel {
  readonly model: Model;
  readonly notice?: string;
  /** The options of every request. */
  readonly defaults: ProviderStreamOptions;
  readonly streams: Streams;
}

/** Sends the requests of a model. */
export interface Streams {
  stream(model: Model, context: Context, options: ProviderStreamOptions): AssistantMessageEventStream;
  streamSimple(model: Model, context: Context, options: SimpleStreamOptions): AssistantMessageEventStream;
}

export function bindModel({ model, notice, defaults, streams }: SelectedModel): AI {
  const ai = {
    model,
    ...(notice !== undefined && { notice }),
    stream: (context: Context, options?: ProviderStreamOptions) =>
      streams.stream(model, context, { ...defaults, ...options }),
    complete: (context: Context, options?: ProviderStreamOptions) => ai.stream(context, options).result(),
    streamSimple: (context: Context, options?: SimpleStreamOptions) =>
      streams.streamSimple(model, context, { ...defaults, ...options }),
    completeSimple: (context: Context, options?: SimpleStreamOptions) => ai.streamSimple(context, options).result(),
  };
  return ai;
}

/** Takes what is about the model out of its options. `defaults` are the options of every request. */
export function applyOptions(
  model: Model,
  { apiKey, baseUrl, config }: ModelOptions,
): { model: Model; defaults: ProviderStreamOptions } {
  const { baseUrl: configuredUrl, ...defaults } = (config ?? {}) as ProviderStreamOptions & { baseUrl?: unknown };
  const url = baseUrl ?? configuredUrl;
  return {
    model: typeof url === "string" ? { ...model, baseUrl: url } : model,
    defaults: { ...defaults, ...(apiKey !== undefined && { apiKey }) },
  };
}

/** Throws `AiError` `invalid_option` if an object has another property than these. `name` is what takes the options. */
export function checkOptions(name: string, options: object, known: readonly string[]): void {
  const unknown = Object.keys(options).find((option) => !known.includes(option));
  if (unknown === undefined) return;
  const hint =
    didYouMean(unknown, known) ||
    ` It has ${known.join(", ")}. Options of every request, such as maxTokens, belong into \`config\`.`;
  throw new AiError("invalid_option", `${name} has no option ${JSON.stringify(unknown)}.${hint}`);
}
