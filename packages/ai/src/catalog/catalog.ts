/**
 * Which models there are: the built-in catalogue, one file a provider, read when first asked for; local servers, where
 * any id is a model; and what was registered. The one place where it is kept.
 *
 * Models are shared and deeply frozen: the same question gives the same object, and nobody can change another's
 * prices. Who needs another base URL or other limits spreads: `{ ...model, baseUrl }`.
 */
import { deepFreeze } from "../internal/freeze.ts";
import { platform } from "#platform";
import { AiError } from "../errors.ts";
import type { Api, Model } from "../model.ts";
import type { CatalogModel } from "../platform/platform.ts";
import { providers } from "../providers/index.ts";
import { assumedLimits, isLocalProvider, localModel, type LocalProvider } from "../providers/local-servers.ts";
import type { CatalogModels } from "./models.generated.ts";

/** A provider whose models are built in. */
export type CatalogProvider = keyof CatalogModels;

export type KnownProvider = CatalogProvider | LocalProvider;

/** The ids of a provider's built-in models. */
export type CatalogModelId<TProvider extends CatalogProvider> =
  CatalogModels[TProvider][keyof CatalogModels[TProvider]] & string;

/** The API in which a built-in model is spoken to. */
export type ModelApi<TProvider extends CatalogProvider, TModelId> = Extract<
  {
    [TApi in keyof CatalogModels[TProvider]]: TModelId extends CatalogModels[TProvider][TApi] ? TApi : never;
  }[keyof CatalogModels[TProvider]],
  Api
>;

/** A model to be registered: the provider is known from the call. */
export type ModelDefinition<TApi extends Api = Api> = Omit<Model<TApi>, "provider"> & { provider?: string };

/** What the catalogue's files said. A model is made and frozen when first asked for: most are never. */
const catalogue = new Map<string, { entries: ReadonlyMap<string, CatalogModel>; made: Map<string, Model> }>();

const registered = new Map<string, Map<string, Model>>();

/**
 * A model by provider and id; undefined when there is none. A registered model comes before a built-in one with the
 * same id. A local server has every model: see `localModel` for what is assumed of it.
 *
 * In a browser there is no catalogue: there also a built-in id is undefined until `registerModels` has named it.
 */
export function getModel<TProvider extends CatalogProvider, TModelId extends CatalogModelId<TProvider>>(
  provider: TProvider,
  modelId: TModelId,
): Model<ModelApi<TProvider, TModelId>>;
export function getModel(provider: LocalProvider, modelId: string): Model;
export function getModel(provider: string, modelId: string): Model | undefined;
export function getModel(provider: string, modelId: string): Model | undefined {
  const known = registered.get(provider)?.get(modelId) ?? builtin(provider, modelId);
  if (known || !isLocalProvider(provider)) return known;
  return deepFreeze(localModel(provider, modelId));
}

/** All models of a provider. Of a local server only those that were registered: `listLocalModels` asks it. */
export function getModels<TProvider extends CatalogProvider>(
  provider: TProvider,
): Model<Extract<keyof CatalogModels[TProvider], Api>>[];
export function getModels(provider: string): Model[];
export function getModels(provider: string): Model[] {
  const own = registered.get(provider) ?? new Map<string, Model>();
  const ids = new Set([...(readCatalogue(provider)?.entries.keys() ?? []), ...own.keys()]);
  return [...ids].map((id) => (own.get(id) ?? builtin(provider, id))!);
}

/** Every provider that has models, built-in ones first. Local servers are listed once models were registered for them. */
export function getProviders(): string[] {
  const builtins = Object.keys(providers).filter((name) => !isLocalProvider(name));
  return [...new Set([...builtins, ...registered.keys()])];
}

/** Adds models, or replaces those with the same id. They are copied: changing what was passed changes nothing. */
export function registerModels(provider: string, models: readonly ModelDefinition[]): void {
  const checked = models.map((model) => checkedModel(provider, model));
  const known = registered.get(provider) ?? new Map<string, Model>();
  for (const model of checked) known.set(model.id, model);
  registered.set(provider, known);
}

/** Removes what was registered for a provider; built-in models that were replaced are back. */
export function unregisterModels(provider: string): void {
  registered.delete(provider);
}

function builtin(provider: string, modelId: string): Model | undefined {
  const known = readCatalogue(provider);
  const entry = known?.entries.get(modelId);
  if (!known || !entry) return undefined;
  const model = known.made.get(modelId) ?? deepFreeze({ ...entry, provider });
  known.made.set(modelId, model);
  return model;
}

function readCatalogue(provider: string) {
  const known = catalogue.get(provider);
  // Only names we know are looked for on disk.
  if (known || !Object.hasOwn(providers, provider)) return known;
  const file = platform.readCatalog(provider);
  if (!file) return undefined;
  const read = { entries: new Map(file.map((entry) => [entry.id, entry])), made: new Map<string, Model>() };
  catalogue.set(provider, read);
  return read;
}

function checkedModel(provider: string, model: ModelDefinition): Model {
  for (const field of ["id", "api"] as const) {
    if (typeof model[field] === "string" && model[field] !== "") continue;
    throw new AiError("invalid_provider", `A model of ${JSON.stringify(provider)} was registered without ${field}.`);
  }
  return deepFreeze({ ...unsaid, ...structuredClone(model), name: model.name || model.id, provider });
}

/** What a model that says nothing about itself is taken to be: silence must not fail the first request. */
const unsaid = {
  baseUrl: "",
  reasoning: false,
  input: ["text" as const],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  ...assumedLimits,
};
