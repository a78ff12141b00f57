/** The front door: one model with its key, ready to be asked. */
import { getModel, getModels, getProviders } from "./catalog/catalog.ts";
import { didYouMean, nearestNames } from "./nearest.ts";
import type { Context } from "./context.ts";
import { getRegisteredProvider } from "./custom-provider.ts";
import { AiError } from "./errors.ts";
import type { AssistantMessageEventStream } from "./event-stream.ts";
import type { AssistantMessage } from "./message.ts";
import type { Model } from "./model.ts";
import type { ProviderStreamOptions, SimpleStreamOptions } from "./options.ts";
import { localServers } from "./providers/local-servers.ts";
import { complete, completeSimple, stream, streamSimple } from "./stream.ts";

export interface CreateAIOptions {
  /** A built-in provider, a local server, or one that was registered. */
  provider: string;
  /** Default: a custom provider's default model; every other provider needs one. */
  model?: string;
  /** Default: the provider's environment variable. */
  apiKey?: string | undefined;
  /**
   * For a custom provider, what its `buildRequest` gets. For every other, `baseUrl` moves the model to another address,
   * `apiKey` is the key if there is none above, and the rest are options of every request.
   */
  config?: object;
}

/** One model, bound to its key and configuration. Options of a single request win over what is bound. */
export interface AI {
  readonly model: Model;
  /** With options in the API's own terms. */
  stream(context: Context, options?: ProviderStreamOptions): AssistantMessageEventStream;
  complete(context: Context, options?: ProviderStreamOptions): Promise<AssistantMessage>;
  /** With options that mean the same for every provider. */
  streamSimple(context: Context, options?: SimpleStreamOptions): AssistantMessageEventStream;
  completeSimple(context: Context, options?: SimpleStreamOptions): Promise<AssistantMessage>;
}

/**
 * Binds a model. Throws an `AiError` that names the nearest ones when the provider is unknown. A model that a built-in
 * provider's catalogue does not know is taken to be like the one with the nearest name.
 */
export function createAI(options: CreateAIOptions): AI {
  const found = findModel(options);
  const { model, bound } =
    found.api === getCustomApi(options.provider) ? bindCustom(found, options) : bind(found, options);
  return {
    model,
    stream: (context, own) => stream(model, context, { ...bound, ...own }),
    complete: (context, own) => complete(model, context, { ...bound, ...own }),
    streamSimple: (context, own) => streamSimple(model, context, { ...bound, ...own }),
    completeSimple: (context, own) => completeSimple(model, context, { ...bound, ...own }),
  };
}

interface Bound {
  model: Model;
  bound: ProviderStreamOptions;
}

const getCustomApi = (provider: string) => getRegisteredProvider(provider)?.defaultModel.api;

const bindCustom = (model: Model, { apiKey, config }: CreateAIOptions): Bound => ({
  model,
  bound: { ...(apiKey !== undefined && { apiKey }), ...(config && { config }) },
});

function bind(model: Model, options: CreateAIOptions): Bound {
  const { baseUrl, ...defaults } = (options.config ?? {}) as ProviderStreamOptions;
  return {
    model: typeof baseUrl === "string" ? { ...model, baseUrl } : model,
    bound: { ...defaults, ...(options.apiKey !== undefined && { apiKey: options.apiKey }) },
  };
}

function findModel({ provider, model }: CreateAIOptions): Model {
  const known = [...new Set([...getProviders(), ...Object.keys(localServers)])];
  if (!known.includes(provider)) {
    const hint = didYouMean(provider, known) || " getProviders() lists the known ones.";
    throw new AiError("unknown_provider", `There is no provider ${JSON.stringify(provider)}.${hint}`);
  }
  const found = model === undefined ? getRegisteredProvider(provider)?.defaultModel : getModel(provider, model);
  if (found) return found;
  if (model === undefined) throw new AiError("unknown_model", `${provider} has no default model. Name one.`);
  const ids = getModels(provider).map(({ id }) => id);
  if (ids.length > 0 && !getRegisteredProvider(provider)) return likeItsNearest(provider, model, ids);
  const hint = didYouMean(model, ids) || ` getModels(${JSON.stringify(provider)}) lists what it has.`;
  throw new AiError("unknown_model", `${provider} has no model ${JSON.stringify(model)}.${hint}`);
}

/**
 * A model that is newer or older than the catalogue: spoken to like the one with the nearest name. A name that is a
 * mistake is answered by the provider, in words of its own.
 */
function likeItsNearest(provider: string, id: string, ids: readonly string[]): Model {
  const nearest = getModel(provider, nearestNames(id, ids)[0] ?? ids[0]!)!;
  return { ...nearest, id, name: id };
}
