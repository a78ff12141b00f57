/**
 * Providers that are described by how a request is built and how an answer is read, as `registerProvider` of `@tau/ai` takes
 * them. Inside an extension they belong to the extension: they come and go with it, and are listed like its other providers.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { Provider } from "@tau/ai";
import { createCustomApiProvider, isRecord } from "@tau/ai/internal";
import type { ExtensionAPI, ExtensionFactory } from "../api/api.ts";
import type { ProviderConfig } from "./provider-config.ts";

export interface DescribedProvider {
  name: string;
  definition: Provider;
  /** The first argument of `buildRequest`, besides the key. */
  config?: Record<string, unknown>;
}

type Register = (provider: DescribedProvider) => void;

/** Where providers go that the code of an extension describes while it is loaded. */
const current = new AsyncLocalStorage<Register>();

/** Registers a provider with the extension that is being loaded. False if there is none. */
export function registerWithExtension(provider: DescribedProvider): boolean {
  const register = current.getStore();
  register?.(provider);
  return register !== undefined;
}

/** Evaluates the module of an extension. `providers` are those that its code registered meanwhile. */
export async function collectProviders<T>(
  load: () => Promise<T>,
): Promise<{ result: T; providers: readonly DescribedProvider[] }> {
  const providers: DescribedProvider[] = [];
  const result = await current.run((provider) => void providers.push(provider), load);
  return { result, providers };
}

/** A factory that also registers the providers that were described before it is called, and while it runs. */
export const withProviders =
  (factory: ExtensionFactory, providers: readonly DescribedProvider[]): ExtensionFactory =>
  (api) => {
    const register: Register = (provider) => registerDescribed(api, provider);
    for (const provider of providers) register(provider);
    return current.run(register, () => factory(api));
  };

/** The providers that a module exports, with its export `config`, if it has one. */
export function findExportedProviders(exports: unknown): DescribedProvider[] {
  if (!isRecord(exports)) return [];
  const { config } = exports;
  const definitions = new Set(Object.values(exports).filter(isDefinition));
  return [...definitions].map((definition) => ({
    name: definition.name,
    definition,
    ...(isRecord(config) && { config }),
  }));
}

export const isDefinition = (value: unknown): value is Provider =>
  isRecord(value) &&
  typeof value["name"] === "string" &&
  Array.isArray(value["models"]) &&
  typeof value["buildRequest"] === "function" &&
  typeof value["parseResponse"] === "function";

const registerDescribed = (api: ExtensionAPI, provider: DescribedProvider): void =>
  api.registerProvider(provider.name, toProviderConfig(provider));

function toProviderConfig({ name, definition, config = {} }: DescribedProvider): ProviderConfig {
  const { displayName = name, models, auth } = definition;
  const api = `custom:${name}`;
  const { streamSimple } = createCustomApiProvider({ api, displayName, definition });
  return {
    name: displayName,
    api,
    baseUrl: findAddress(definition, config),
    ...(auth?.envVar && { apiKey: `$${auth.envVar}` }),
    models: models.map((model) => ({ ...model, compat: { supportsTools: false } })),
    streamSimple: (model, context, options) => streamSimple(model, context, { ...options, config }),
  };
}

/** Where requests go, which decides where the key may be sent. */
function findAddress(definition: Provider, config: Record<string, unknown>): string {
  const model = definition.defaultModel ?? definition.models[0]?.id ?? "";
  const { url } = definition.buildRequest({ ...config, apiKey: "" }, model, [{ role: "user", content: "" }]);
  return new URL(url).origin;
}
