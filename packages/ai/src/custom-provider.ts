/**
 * Custom providers: the application describes how a request is built, how an answer is read and where the key goes.
 * Time limits, retries, abort and failure classification work as for the built-in providers.
 */
import { getModel, registerModels, unregisterModels } from "./catalog/catalog.ts";
import type { Context } from "./context.ts";
import type { CustomProvider, CustomProviderOptions, Provider, ProviderModel } from "./custom-definition.ts";
import { AiError } from "./errors.ts";
import type { Model } from "./model.ts";
import { assumedModel } from "./providers/assumed-model.ts";
import { startRequest } from "./protocols/start.ts";
import { type ApiProvider, registerApiProvider, unregisterApiProviders } from "./registry.ts";

/** A registered custom provider. */
export interface RegisteredProvider {
  readonly name: string;
  readonly displayName: string;
  readonly models: readonly Model[];
  readonly defaultModel: Model;
  /** Removes the provider and its models. Does nothing if another provider has since been registered under its name. */
  unregister(): void;
}

const registered = new Map<string, RegisteredProvider>();

/** Registers a provider under its own name. */
export function createProvider<TConfig>(definition: Provider<TConfig>): RegisteredProvider {
  return registerProvider(definition.name, definition);
}

/** Registers a provider under `name`, replacing any with that name. Throws if the definition is invalid. */
export function registerProvider<TConfig>(name: string, definition: Provider<TConfig>): RegisteredProvider {
  checkDefinition(name, definition);
  registered.get(name)?.unregister();
  const api = `custom:${name}`;
  const displayName = definition.displayName ?? name;
  registerApiProvider(createCustomApiProvider({ api, displayName, definition }), api);
  registerModels(
    name,
    definition.models.map((model) => toModelDefinition(api, model)),
  );
  const models = definition.models.map(({ id }) => getModel(name, id)!);
  const provider: RegisteredProvider = {
    name,
    displayName,
    models,
    defaultModel: models.find(({ id }) => id === definition.defaultModel) ?? models[0]!,
    unregister() {
      if (registered.get(name) !== provider) return;
      registered.delete(name);
      unregisterModels(name);
      unregisterApiProviders(api);
    },
  };
  registered.set(name, provider);
  return provider;
}

export const getRegisteredProvider = (name: string): RegisteredProvider | undefined => registered.get(name);

/** `stream` and `streamSimple` are the same function: a custom provider has no API-specific options. */
export function createCustomApiProvider<TConfig>(provider: CustomProvider<TConfig>): ApiProvider {
  const stream = (model: Model, context: Context, options: CustomProviderOptions = {}) => {
    const load = async () =>
      (await import("./custom-protocol.ts")).createCustomProtocol(provider, { model, context, options });
    return startRequest(load, { model, context, options: () => options, clock: options.clock });
  };
  return { api: provider.api, stream, streamSimple: stream };
}

const toModelDefinition = (api: string, model: ProviderModel) => ({
  api,
  ...assumedModel,
  ...model,
  compat: { supportsTools: false },
});

function checkDefinition<TConfig>(name: string, definition: Provider<TConfig>): void {
  const { models = [], defaultModel, buildRequest, parseResponse } = definition;
  const ids = models.map(({ id }) => id);
  const problems: readonly [boolean, string][] = [
    [!name, "it has no name"],
    [ids.length === 0, "it has no models"],
    [new Set(ids).size < ids.length, "two of its models have the same id"],
    [defaultModel !== undefined && !ids.includes(defaultModel), "its default model is not among its models"],
    [typeof buildRequest !== "function", "buildRequest is not a function"],
    [typeof parseResponse !== "function", "parseResponse is not a function"],
  ];
  const problem = problems.find(([applies]) => applies);
  if (!problem) return;
  throw new AiError("invalid_provider", `The provider ${JSON.stringify(name)} is not valid: ${problem[1]}.`);
}
