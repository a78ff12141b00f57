/** Binds a model to its key and options. */
import { toProviderId } from "./providers/index.ts";
import { describeUnlisted, getModel, getModels, getProviders, getUnlistedModel } from "./catalog/catalog.ts";
import { didYouMean } from "./nearest.ts";
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
  /** A built-in provider, a local server or a registered provider. */
  provider: string;
  /** Default: the default model of a custom provider. Required for every other provider. */
  model?: string;
  /** Default: the provider's environment variable. */
  apiKey?: string | undefined;
  /**
   * For a custom provider: the config passed to its `buildRequest`. For any other provider: `baseUrl` replaces the
   * model's base URL, `apiKey` is used if `apiKey` above is not set, and all other fields are default request options.
   */
  config?: object;
}

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

/**
 * Binds a model. Throws an `AiError` with suggestions if the provider is unknown. A model of a built-in provider that the
 * catalogue does not have is used with assumed properties; `notice` says which.
 */
export function createAI(options: CreateAIOptions): AI {
  if (!options) throw new AiError("unknown_provider", "createAI needs options with a `provider`.");
  const { model, defaults } = bindModel(findModel(options), options);
  const notice = describeUnlisted(model);
  return {
    model,
    ...(notice !== undefined && { notice }),
    stream: (context, requestOptions) => stream(model, context, { ...defaults, ...requestOptions }),
    complete: (context, requestOptions) => complete(model, context, { ...defaults, ...requestOptions }),
    streamSimple: (context, requestOptions) => streamSimple(model, context, { ...defaults, ...requestOptions }),
    completeSimple: (context, requestOptions) => completeSimple(model, context, { ...defaults, ...requestOptions }),
  };
}

/** `defaults` are the options of every request. */
function bindModel(
  model: Model,
  { provider, apiKey, config }: CreateAIOptions,
): { model: Model; defaults: ProviderStreamOptions } {
  const key = apiKey !== undefined && { apiKey };
  if (model.api === getRegisteredProvider(provider)?.defaultModel.api) {
    return { model, defaults: { ...key, ...(config && { config }) } };
  }
  const { baseUrl, ...defaults } = (config ?? {}) as ProviderStreamOptions;
  return {
    model: typeof baseUrl === "string" ? { ...model, baseUrl } : model,
    defaults: { ...defaults, ...key },
  };
}

function findModel({ provider, model }: CreateAIOptions): Model {
  const known = [...new Set([...getProviders(), ...Object.keys(localServers)])];
  if (!known.includes(toProviderId(provider))) {
    // Code without types may leave it out.
    const hint = didYouMean(String(provider), known) || " getProviders() lists the known ones.";
    throw new AiError("unknown_provider", `There is no provider ${JSON.stringify(provider)}.${hint}`);
  }
  const match = model === undefined ? getRegisteredProvider(provider)?.defaultModel : getModel(provider, model);
  if (match) return match;
  if (model === undefined) throw new AiError("unknown_model", `${provider} has no default model. Pass \`model\`.`);
  const unlisted = getUnlistedModel(provider, model);
  if (unlisted) return unlisted;
  const ids = getModels(provider).map(({ id }) => id);
  const hint = didYouMean(model, ids) || ` getModels(${JSON.stringify(provider)}) lists what it has.`;
  throw new AiError("unknown_model", `${provider} has no model ${JSON.stringify(model)}.${hint}`);
}
