/**
 * All models: the built-in catalogue (one file per provider, read on first use), registered models, and local servers,
 * for which every id is a model. Models that the catalogue had once can still be found, but are not listed. A provider's
 * former id means the provider.
 *
 * Models are shared and deeply frozen: the same provider and id give the same object. To change a field, copy the
 * model: `{ ...model, baseUrl }`.
 */
import { platform } from "#platform";
import { AiError } from "../errors.ts";
import { deepFreeze } from "../internal/freeze.ts";
import type { Api, Model } from "../model.ts";
import type { CatalogModel } from "../platform/platform.ts";
import { providers, toProviderId } from "../providers/index.ts";
import { assumedModel, isLocalProvider, createLocalModel, type LocalProvider } from "../providers/local-servers.ts";
import { didYouMean, nearestNames } from "../nearest.ts";
import type { CatalogModels } from "./models.generated.ts";

/** A provider whose models are built in. */
export type CatalogProvider = keyof CatalogModels;

export type KnownProvider = CatalogProvider | LocalProvider;

/** The ids of a provider's built-in models. */
export type CatalogModelId<TProvider extends CatalogProvider> =
  CatalogModels[TProvider][keyof CatalogModels[TProvider]] & string;

/** The API of a built-in model. */
export type ModelApi<TProvider extends CatalogProvider, TModelId> = Extract<
  {
    [TApi in keyof CatalogModels[TProvider]]: TModelId extends CatalogModels[TProvider][TApi] ? TApi : never;
  }[keyof CatalogModels[TProvider]],
  Api
>;

/** A model to be registered. The provider comes from the call of `registerModels`. */
export type ModelDefinition<TApi extends Api = Api> = Omit<Model<TApi>, "provider"> & { provider?: string };

/** The catalogue files read so far. A model is created and frozen on first use, because most are never used. */
const catalogue = new Map<string, { entries: ReadonlyMap<string, CatalogModel>; models: Map<string, Model> }>();

const registered = new Map<string, Map<string, Model>>();

/** By provider and id. Undefined until a model is asked for that is not in the catalogue. */
let retired: ReadonlyMap<string, ReadonlyMap<string, Model>> | undefined;

/**
 * A model by provider and id; undefined if there is none. A registered model replaces a built-in one with the same id. A
 * model that the provider no longer offers is marked with `isRetired`.
 * For a local server every id gives a model; see `createLocalModel` for its assumed properties.
 *
 * In a browser there is no catalogue: a built-in id is undefined until it is registered with `registerModels`.
 */
export function getModel<TProvider extends CatalogProvider, TModelId extends CatalogModelId<TProvider>>(
  provider: TProvider,
  modelId: TModelId,
): Model<ModelApi<TProvider, TModelId>>;
export function getModel(provider: LocalProvider, modelId: string): Model;
export function getModel(provider: string, modelId: string): Model | undefined;
export function getModel(name: string, modelId: string): Model | undefined {
  const provider = toProviderId(name);
  const model = registered.get(provider)?.get(modelId) ?? getBuiltinModel(provider, modelId);
  if (model || !isLocalProvider(provider)) return model;
  return deepFreeze(createLocalModel(provider, modelId));
}

/** All models of a provider. For a local server only the registered ones; `listLocalModels` asks the server. */
export function getModels<TProvider extends CatalogProvider>(
  provider: TProvider,
): Model<Extract<keyof CatalogModels[TProvider], Api>>[];
export function getModels(provider: string): Model[];
export function getModels(name: string): Model[] {
  const provider = toProviderId(name);
  const registeredModels = registered.get(provider) ?? new Map<string, Model>();
  const ids = new Set([...(readCatalogue(provider)?.entries.keys() ?? []), ...registeredModels.keys()]);
  return [...ids].map((id) => (registeredModels.get(id) ?? getBuiltinModel(provider, id))!);
}

/** Every provider with models, built-in ones first. A local server is included once models are registered for it. */
export function getProviders(): string[] {
  const builtins = Object.keys(providers).filter((name) => !isLocalProvider(name));
  return [...new Set([...builtins, ...registered.keys()])];
}

/** Adds models, or replaces those with the same id. The models are copied. */
export function registerModels(name: string, models: readonly ModelDefinition[]): void {
  const provider = toProviderId(name);
  const newModels = models.map((model) => toModel(provider, model));
  const registeredModels = registered.get(provider) ?? new Map<string, Model>();
  for (const model of newModels) registeredModels.set(model.id, model);
  registered.set(provider, registeredModels);
}

/** Removes the registered models of a provider. Built-in models that they replaced become available again. */
export function unregisterModels(provider: string): void {
  registered.delete(toProviderId(provider));
}

/** Whether a program registered a model with this provider and id. */
export const isRegisteredModel = (provider: string, id: string): boolean =>
  registered.get(toProviderId(provider))?.has(id) ?? false;

/** The listed and retired models of the catalogue, without registered ones. */
export function getBuiltinModels(name: string): Model[] {
  const provider = toProviderId(name);
  const listed = [...(readCatalogue(provider)?.entries.keys() ?? [])].map((id) => getBuiltinModel(provider, id)!);
  return [...listed, ...(readRetired().get(provider)?.values() ?? [])];
}

/** The models that the catalogue had once. They can be used, but are not listed. */
export const getRetiredModels = (): Model[] => [...readRetired().values()].flatMap((models) => [...models.values()]);

/** The properties that are assumed of a model of which only the id is known. */
export const assumedProperties = { ...assumedModel, contextWindow: 128_000, maxTokens: 16_384 };

/**
 * A model of a built-in provider that the catalogue does not have, such as a newer one. It is sent to the address and in
 * the API of the model with the most similar name; its other properties are assumed. Undefined for other providers: their
 * lists are complete.
 */
export function getUnlistedModel(name: string, id: string): Model | undefined {
  const provider = toProviderId(name);
  const section = readCatalogue(provider);
  const ids = [...(section?.entries.keys() ?? [])];
  const similar = section?.entries.get(nearestNames(id, ids)[0] ?? ids[0] ?? "");
  if (!section || !similar || id === "" || section.entries.has(id)) return undefined;
  const { api, baseUrl, headers, compat } = similar;
  const known = { api, baseUrl, ...(headers && { headers }), ...(compat && { compat }) };
  const model =
    section.models.get(id) ?? deepFreeze({ ...assumedProperties, ...known, id, name: id, provider, isUnlisted: true });
  section.models.set(id, model);
  return model;
}

/** Why a model is not listed, and where its properties come from. Undefined for a listed model. */
export function describeUnlisted({ provider, id, contextWindow, isUnlisted, isRetired }: Model): string | undefined {
  if (isRetired) {
    return `The catalogue no longer lists ${JSON.stringify(`${provider}/${id}`)}, so its provider may refuse it; its last known limits and price are used.`;
  }
  if (!isUnlisted) return undefined;
  const ids = getModels(provider).map((model) => model.id);
  const assumed = `a context window of ${contextWindow.toLocaleString("en")} tokens, text only, no thinking and no price`;
  return `The catalogue has no model ${JSON.stringify(`${provider}/${id}`)}; ${assumed} are assumed.${didYouMean(id, ids)}`;
}

function getBuiltinModel(provider: string, modelId: string): Model | undefined {
  const section = readCatalogue(provider);
  if (!section) return undefined;
  const entry = section.entries.get(modelId);
  if (!entry) return readRetired().get(provider)?.get(modelId);
  const model = section.models.get(modelId) ?? deepFreeze({ ...entry, provider });
  section.models.set(modelId, model);
  return model;
}

function readCatalogue(provider: string) {
  const cached = catalogue.get(provider);
  // The name becomes part of a file name, so only known providers are read from disk.
  if (cached || !Object.hasOwn(providers, provider)) return cached;
  const file = platform.readCatalog(provider);
  if (!file) return undefined;
  const section = { entries: new Map(file.map((entry) => [entry.id, entry])), models: new Map<string, Model>() };
  catalogue.set(provider, section);
  return section;
}

function readRetired(): ReadonlyMap<string, ReadonlyMap<string, Model>> {
  return (retired ??= new Map(
    Object.entries(platform.readRetiredModels()).map(([provider, entries]) => [
      provider,
      new Map(entries.map((entry) => [entry.id, deepFreeze({ ...entry, provider, isRetired: true })])),
    ]),
  ));
}

function toModel(provider: string, model: ModelDefinition): Model {
  for (const field of ["id", "api"] as const) {
    if (typeof model[field] === "string" && model[field] !== "") continue;
    throw new AiError("invalid_provider", `A model of ${JSON.stringify(provider)} was registered without ${field}.`);
  }
  return deepFreeze({ ...assumedModel, ...structuredClone(model), name: model.name || model.id, provider });
}
