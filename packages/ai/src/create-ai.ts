/** Binds a model to its key and options. */
import { type AI, applyOptions, bindModel, checkOptions, type ModelOptions, type SelectedModel } from "./bind-model.ts";
import { toProviderId } from "./providers/index.ts";
import { describeUnlisted, getModel, getModels, getProviders, getUnlistedModel } from "./catalog/catalog.ts";
import { didYouMean } from "./nearest.ts";
import { getRegisteredProvider } from "./custom-provider.ts";
import { AiError } from "./errors.ts";
import type { Model } from "./model.ts";
import type { ProviderStreamOptions } from "./options.ts";
import { localServers } from "./providers/local-servers.ts";
import { stream, streamSimple } from "./stream.ts";

export interface CreateAIOptions extends ModelOptions {
  /** A built-in provider, a local server or a registered provider. */
  provider: string;
  /** Default: the default model of a custom provider. Required for every other provider. */
  model?: string;
  /**
   * For a custom provider: the config passed to its `buildRequest`. For any other provider: default options of every
   * request; `baseUrl` and `apiKey` among them are used if those beside it are not set.
   */
  config?: object;
}

/**
 * Binds a model: one that a provider's entry selected, such as `anthropic("claude-opus-4-5")` of `@tau/ai/anthropic`, or
 * one by its names. Throws an `AiError` with suggestions if the provider or an option is unknown. A model of a built-in
 * provider that the catalogue does not have is used with assumed properties; `notice` says which.
 */
export function createAI(options: CreateAIOptions | SelectedModel): AI {
  if (!options) throw new AiError("unknown_provider", "createAI needs options with a `provider`.");
  if ("streams" in options) return bindModel(options);
  checkOptions("createAI", options, ["provider", "model", "apiKey", "baseUrl", "config"]);
  const { model, defaults } = resolveModel(findModel(options), options);
  const notice = describeUnlisted(model);
  return bindModel({ model, defaults, streams: { stream, streamSimple }, ...(notice !== undefined && { notice }) });
}

/** `defaults` are the options of every request. */
function resolveModel(model: Model, options: CreateAIOptions): { model: Model; defaults: ProviderStreamOptions } {
  const { provider, apiKey, baseUrl, config } = options;
  if (model.api !== getRegisteredProvider(provider)?.defaultModel.api) return applyOptions(model, options);
  const applied = applyOptions(model, { apiKey, baseUrl });
  return { ...applied, defaults: { ...applied.defaults, ...(config && { config }) } };
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
