/**
 * Providers that somebody describes instead of coding a protocol: how a request is built, how an answer is read, where
 * the key goes. Everything else is as for the built-in ones: time limits, retries, abort, classified failures.
 */
import { getModel, registerModels, unregisterModels } from "./catalog/catalog.ts";
import type { Context } from "./context.ts";
import type { CustomProvider, CustomProviderOptions, Provider, ProviderModel } from "./custom-definition.ts";
import { AiError } from "./errors.ts";
import type { Model } from "./model.ts";
import { assumedLimits } from "./providers/local-servers.ts";
import { startRequest } from "./protocols/start.ts";
import { type ApiProvider, registerApiProvider, unregisterApiProviders } from "./registry.ts";

/** A provider that is in place. */
export interface RegisteredProvider {
  readonly name: string;
  readonly displayName: string;
  readonly models: readonly Model[];
  readonly defaultModel: Model;
  /** Takes the provider and its models away again. Does nothing once another has taken its name. */
  unregister(): void;
}

const registered = new Map<string, RegisteredProvider>();

/** Puts a provider in place under its own name. */
export function createProvider<TConfig>(definition: Provider<TConfig>): RegisteredProvider {
  return registerProvider(definition.name, definition);
}

/** Puts a provider in place under `name`, instead of one that had it. Throws when the definition cannot work. */
export function registerProvider<TConfig>(name: string, definition: Provider<TConfig>): RegisteredProvider {
  checkDefinition(name, definition);
  registered.get(name)?.unregister();
  const api = `custom:${name}`;
  const displayName = definition.displayName ?? name;
  registerApiProvider(customApiProvider({ api, called: displayName, definition }), api);
  registerModels(
    name,
    definition.models.map((model) => describeModel(api, model)),
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

/** The custom provider of that name, if there is one. */
export const getRegisteredProvider = (name: string): RegisteredProvider | undefined => registered.get(name);

/** `stream` and `streamSimple` are the same: a custom provider has no options of its own. */
function customApiProvider<TConfig>(provider: CustomProvider<TConfig>): ApiProvider {
  const ask = (model: Model, context: Context, options: CustomProviderOptions = {}) => {
    const load = async () =>
      (await import("./custom-protocol.ts")).customProtocol(provider, { model, context, options });
    return startRequest(load, { model, context, options: () => options, clock: options.clock });
  };
  return { api: provider.api, stream: ask, streamSimple: ask };
}

const describeModel = (api: string, model: ProviderModel) => ({
  api,
  baseUrl: "",
  reasoning: false,
  input: ["text" as const],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  ...assumedLimits,
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
  throw new AiError("invalid_provider", `The provider ${JSON.stringify(name)} cannot work: ${problem[1]}.`);
}
