/**
 * All models: the built-in catalogue (one file per provider, read on first use, or bundled), registered models, and local servers,
 * for which every id is a model. Models that the catalogue had once can still be found, but are not listed. A provider's
 * former id means the provider.
 *
 * Models are shared and deeply frozen: the same provider and id give the same object. To change a field, copy the
 * model: `{ ...model, baseUrl }`.
 */
import { readModels } from "#models";
import { AiError } from "../errors.ts";
import { deepFreeze } from "../internal/freeze.ts";
import type { Api, Model } from "../model.ts";
import { assumedModel } from "../providers/assumed-model.ts";
import { providers, toProviderId } from "../providers/index.ts";
import { isLocalProvider, createLocalModel, type LocalProvider } from "../providers/local-servers.ts";
import { type BuiltinModels, createBuiltinModels, explainUnlisted } from "./builtin-models.ts";
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

/** The models of the providers read so far. */
const catalogue = new Map<string, BuiltinModels>();

const registered = new Map<string, Map<string, Model>>();

/**
 * A model by provider and id; undefined if there is none. A registered model replaces a built-in one with the same id. A
 * model that the provider no longer offers is marked with `isRetired`.
 * For a local server every id gives a model; see `createLocalModel` for its assumed properties.
 */
export function getModel<TProvider extends CatalogProvider, TModelId extends CatalogModelId<TProvider>>(
  provider: TProvider,
  modelId: TModelId,
): Model<ModelApi<TProvider, TModelId>>;
export function getModel(provider: LocalProvider, modelId: string): Model;
export function getModel(provider: string, modelId: string): Model | undefined;
export function getModel(name: string, modelId: string): Model | undefined {
  const provider = toProviderId(name);
  const model = registered.get(provider)?.get(modelId) ?? readBuiltinModels(provider)?.find(modelId);
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
  const builtin = readBuiltinModels(provider);
  const ids = new Set([...(builtin?.ids ?? []), ...registeredModels.keys()]);
  return [...ids].map((id) => (registeredModels.get(id) ?? builtin?.find(id))!);
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
  const models = readBuiltinModels(toProviderId(name));
  return models ? [...models.ids.map((id) => models.find(id)!), ...models.findRetired()] : [];
}

/** The models that the catalogue had once. They can be used, but are not listed. */
export const getRetiredModels = (): Model[] =>
  Object.keys(providers).flatMap((provider) => readBuiltinModels(provider)?.findRetired() ?? []);

/**
 * A model of a built-in provider that the catalogue does not have, with assumed properties, as `BuiltinModels` describes.
 * Undefined for other providers: their lists are complete.
 */
export const getUnlistedModel = (name: string, id: string): Model | undefined =>
  readBuiltinModels(toProviderId(name))?.assume(id);

/** Why a model is not listed, and where its properties come from. Undefined for a listed model. */
export const describeUnlisted = (model: Model): string | undefined =>
  explainUnlisted(model, () => getModels(model.provider).map(({ id }) => id));

function readBuiltinModels(provider: string): BuiltinModels | undefined {
  const cached = catalogue.get(provider);
  // The name becomes part of a file name, so only known providers are read from disk.
  if (cached || !Object.hasOwn(providers, provider) || isLocalProvider(provider)) return cached;
  const models = createBuiltinModels(provider, readModels(provider));
  catalogue.set(provider, models);
  return models;
}

function toModel(provider: string, model: ModelDefinition): Model {
  for (const field of ["id", "api"] as const) {
    if (typeof model[field] === "string" && model[field] !== "") continue;
    throw new AiError("invalid_provider", `A model of ${JSON.stringify(provider)} was registered without ${field}.`);
  }
  return deepFreeze({ ...assumedModel, ...structuredClone(model), name: model.name || model.id, provider });
}
