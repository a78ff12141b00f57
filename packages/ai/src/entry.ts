/** Models of one provider without the catalogue of the others: the entries such as `@tau/ai/anthropic`. */
import {
  type AI,
  applyOptions,
  bindModel,
  checkOptions,
  type ModelOptions,
  type SelectedModel,
  type Streams,
} from "./bind-model.ts";
import { createBuiltinModels, explainUnlisted, type ModelLists } from "./catalog/builtin-models.ts";
import { AiError } from "./errors.ts";
import type { Api, Model } from "./model.ts";
import type { LoadProtocol } from "./protocols/index.ts";
import { type ApiProvider, findRegisteredStreams, getProvider } from "./registry.ts";
import { callProvider } from "./stream.ts";

/**
 * Selects a model of a provider, for `createAI`. An id that the catalogue does not have gives a model with assumed
 * properties; the `notice` says which.
 */
export type SelectModel<TId extends string> = (id: TId | (string & {}), options?: ModelOptions) => SelectedModel;

interface Entry extends ModelLists {
  provider: string;
  /** The protocols of its models, by API. */
  protocols: Readonly<Partial<Record<Api, LoadProtocol>>>;
}

/** Binds a model of one provider, such as `anthropic("claude-opus-4-5")`. */
export const createAI = (selected: SelectedModel): AI => bindModel(selected);

export function defineEntry<TId extends string>({ provider, protocols, ...lists }: Entry): SelectModel<TId> {
  const models = createBuiltinModels(provider, lists);
  const find = ({ api, provider }: Model): ApiProvider | undefined => {
    const load = protocols[api];
    return findRegisteredStreams({ api, provider }) ?? (load && getProvider(api, load));
  };
  const streams: Streams = {
    stream: (model, context, options) => callProvider(find(model), model, (own) => own.stream(model, context, options)),
    streamSimple: (model, context, options) =>
      callProvider(find(model), model, (own) => own.streamSimple(model, context, options)),
  };
  return (id, options = {}) => {
    checkOptions(provider, options, ["apiKey", "baseUrl", "config"]);
    const model = models.find(id) ?? models.assume(id);
    if (!model) throw new AiError("unknown_model", `${provider} has no model ${JSON.stringify(id)}.`);
    const notice = explainUnlisted(model, () => models.ids);
    return { ...applyOptions(model, options), streams, ...(notice !== undefined && { notice }) };
  };
}
