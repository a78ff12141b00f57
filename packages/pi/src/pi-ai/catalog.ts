/** The models that are built in. There are none that make images or classify. */
import { findEnvKeys, getModel, getModels, getProviders, type Model } from "@tau/ai";
import { ModelsError } from "./models-error.ts";
import { createModels, type Models, type ModelsOptions } from "./model-collection.ts";
import { envApiKeyAuth } from "./auth.ts";
import { createProvider, type Provider } from "./provider.ts";
import { getApiProvider } from "./streams.ts";

export const getBuiltinModel = (provider: string, modelId: string): Model | undefined => getModel(provider, modelId);
export const getBuiltinModels = (provider: string): Model[] => getModels(provider);
export const getBuiltinProviders = (): string[] => getProviders();
export const getAllBuiltinModels = getBuiltinModels;
export const getBuiltinImageModels = (_provider: string): Model[] => [];
export const getBuiltinClassifierModels = (_provider: string): Model[] => [];
export const getBuiltinImageModel = (_provider: string, _modelId: string): Model | undefined => undefined;
export const getBuiltinClassifierModel = (_provider: string, _modelId: string): Model | undefined => undefined;
export const getBuiltinModelDataGeneratedAt = (): number | undefined => undefined;

export const getImageModel = getBuiltinImageModel;
export const getImageModels = getBuiltinImageModels;
export const getImageProviders = (): string[] => [];

/** All variables that a key of the provider may be in: those that an environment has in which every variable is set. */
const getKeyVariables = (provider: string): string[] => findEnvKeys(provider, () => "set") ?? [];

export const builtinProviders = (): Provider[] =>
  getProviders().map((id) => {
    const models = getModels(id);
    const apis = [...new Set(models.map(({ api }) => api))];
    const streams = apis.map((api) => [api, getApiProvider(api)] as const);
    return createProvider({
      id,
      auth: { apiKey: envApiKeyAuth(id, getKeyVariables(id)) },
      models,
      api: Object.fromEntries(streams) as never,
    });
  });

export function builtinModels(options?: ModelsOptions): Models {
  const models = createModels(options);
  for (const provider of builtinProviders()) models.setProvider(provider);
  return models;
}

export const getModelType = (model: { type?: string }): string => model.type ?? "chat";
export const isModelType = (model: { type?: string }, type: string): boolean => getModelType(model) === type;
export const hasApi = (model: Model & { type?: string }, api: string): boolean =>
  isModelType(model, "chat") && model.api === api;

const imageProviders = new Map<string, { api: string; generateImages(...request: unknown[]): Promise<unknown> }>();

export function registerImagesApiProvider(provider: {
  api: string;
  generateImages(...request: unknown[]): Promise<unknown>;
}): void {
  imageProviders.set(provider.api, provider);
}

export const getImagesApiProvider = (api: string) => imageProviders.get(api);

/** No API for images is built in. */
export const registerBuiltInImagesApiProviders = (): void => undefined;

export async function generateImages(model: { api: string }, ...request: unknown[]): Promise<unknown> {
  const provider = imageProviders.get(model.api);
  if (!provider) {
    throw new ModelsError("provider", `tau makes no images, and no extension has registered the API ${model.api}.`);
  }
  return await provider.generateImages(model, ...request);
}
