/** Providers that are described by how a request is built and an answer is read, and what creates an AI of one. */
import {
  type AI,
  createAI as createTauAI,
  type CreateAIOptions,
  getProviders,
  type Provider as ProviderDefinition,
  registerProvider as registerForAll,
} from "@tau/ai";
import { isDefinition, registerWithExtension } from "@tau/extensions";
import { createProvider as createFromParts, type Provider, type ProviderOptions } from "./provider.ts";

/** Providers of extensions, for `createAI`. Nothing else uses them until they are asked for. */
const described = new Map<string, ProviderDefinition>();

/** Registers a provider: with the extension that is being loaded, or else for the whole program. */
export function registerProvider(name: string, definition: ProviderDefinition, config?: Record<string, unknown>): void {
  const own = { ...definition, name };
  if (registerWithExtension({ name, definition: own, ...(config && { config }) })) described.set(name, own);
  else registerForAll(name, own);
}

/** A provider of pi's, made of parts; or one that is described, which is registered under its name. */
export function createProvider(options: ProviderOptions): Provider;
export function createProvider<T extends ProviderDefinition>(definition: T, config?: Record<string, unknown>): T;
export function createProvider(
  options: ProviderOptions | ProviderDefinition,
  config?: Record<string, unknown>,
): Provider | ProviderDefinition {
  if (!isDefinition(options)) return createFromParts(options as ProviderOptions);
  registerProvider(options.name, options, config);
  return options;
}

export function createAI(options: CreateAIOptions): AI {
  const definition = described.get(options?.provider);
  if (definition && !getProviders().includes(options.provider)) registerForAll(options.provider, definition);
  return createTauAI(options);
}
