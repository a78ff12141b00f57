/** The built-in models of one provider, listed and retired, from whatever holds their data. */
import { deepFreeze } from "../internal/freeze.ts";
import type { Model } from "../model.ts";
import { didYouMean, nearestNames } from "../nearest.ts";
import { assumedModel } from "../providers/assumed-model.ts";

/** A model as the catalogue's files hold it: the provider is the file. */
export type CatalogModel = Omit<Model, "provider">;

/** The data of one provider. */
export interface ModelLists {
  listed: readonly CatalogModel[];
  /** The models that the provider offered once. Called at most once, with the first model that is not listed. */
  retired: () => readonly CatalogModel[];
}

/** The built-in models of one provider. Models are frozen, and the same id gives the same object. */
export interface BuiltinModels {
  /** The ids of the listed models. */
  readonly ids: readonly string[];
  /** A listed or a retired model. */
  find(id: string): Model | undefined;
  findRetired(): Model[];
  /**
   * A model that the catalogue does not have, such as a newer one. It is sent to the address and in the API of the model
   * with the most similar name; its other properties are assumed. Undefined for an id that the catalogue lists.
   */
  assume(id: string): Model | undefined;
}

/** The properties that are assumed of a model of which only the id is known. */
export const assumedProperties = { ...assumedModel, contextWindow: 128_000, maxTokens: 16_384 };

/** A model is created and frozen on first use, because most are never used. */
export function createBuiltinModels(provider: string, lists: ModelLists): BuiltinModels {
  const entries = new Map(lists.listed.map((entry) => [entry.id, entry]));
  const ids = [...entries.keys()];
  const models = new Map<string, Model>();
  let retired: Map<string, Model> | undefined;
  const getRetired = () =>
    (retired ??= new Map(
      lists.retired().map((entry) => [entry.id, deepFreeze({ ...entry, provider, isRetired: true })]),
    ));
  const remember = (id: string, create: () => Model) => {
    const model = models.get(id) ?? deepFreeze(create());
    models.set(id, model);
    return model;
  };
  return {
    ids,
    find(id) {
      const entry = entries.get(id);
      return entry ? remember(id, () => ({ ...entry, provider })) : getRetired().get(id);
    },
    findRetired: () => [...getRetired().values()],
    assume(id) {
      const similar = entries.get(nearestNames(id, ids)[0] ?? ids[0] ?? "");
      if (!similar || id === "" || entries.has(id)) return undefined;
      const { api, baseUrl, headers, compat } = similar;
      const known = { api, baseUrl, ...(headers && { headers }), ...(compat && { compat }) };
      return remember(id, () => ({ ...assumedProperties, ...known, id, name: id, provider, isUnlisted: true }));
    },
  };
}

/** Why a model is not listed, and where its properties come from. Undefined for a listed model. `ids` are those that are. */
export function explainUnlisted(
  { provider, id, contextWindow, isUnlisted, isRetired }: Model,
  ids: () => readonly string[],
): string | undefined {
  if (isRetired) {
    return `The catalogue no longer lists ${JSON.stringify(`${provider}/${id}`)}, so its provider may refuse it; its last known limits and price are used.`;
  }
  if (!isUnlisted) return undefined;
  const assumed = `a context window of ${contextWindow.toLocaleString("en")} tokens, text only, no thinking and no price`;
  return `The catalogue has no model ${JSON.stringify(`${provider}/${id}`)}; ${assumed} are assumed.${didYouMean(id, ids())}`;
}
