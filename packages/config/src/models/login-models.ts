/** The models of a provider as its stored login serves them. */
import type { Model } from "@tau/ai";
import { oncePerPair } from "@tau/ai/internal";
import type { ServedModels } from "../auth/served-models.ts";
import type { BaseModels } from "./configured.ts";

/** Returns what the stored login of a provider serves; undefined if it serves the provider's models as they are. */
export type GetServed = (provider: string) => ServedModels | undefined;

const atAddress = oncePerPair((model: Model, { baseUrl = model.baseUrl }: ServedModels): Model => ({
  ...model,
  baseUrl,
}));
const inWayOf = oncePerPair((other: Model, own: Model): Model => ({ ...other, provider: own.provider }));

/** Changes models only where a login says so. Models that it does not serve are not listed, but are found by their id. */
export function withLogins(base: BaseModels, getServed: GetServed): BaseModels {
  const serve = (model: Model, served: ServedModels): Model | undefined => {
    if (served.ids && !served.ids.includes(model.id)) return undefined;
    if (served.modelsOf === undefined) return atAddress(model, served);
    const other = base.list(served.modelsOf).find(({ id }) => id === model.id);
    return other && inWayOf(other, model);
  };
  return {
    ...base,
    list(provider) {
      const models = base.list(provider);
      const served = getServed(provider);
      return served ? models.flatMap((model) => serve(model, served) ?? []) : models;
    },
    find(provider, id) {
      const model = base.find(provider, id);
      const served = model && getServed(provider);
      return served ? (serve(model, served) ?? atAddress(model, served)) : model;
    },
  };
}
