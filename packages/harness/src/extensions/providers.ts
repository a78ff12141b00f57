/** Providers of extensions: their models are added to the registry, and their own stream functions to the APIs. */
import { type ApiProvider, registerApiProvider, unregisterApiProviders } from "@tau/ai";
import type { ModelRegistry } from "../models/model-registry.ts";
import type { ProviderConfig } from "./api.ts";

export interface ProviderPort {
  register(name: string, config: ProviderConfig): void;
  unregister(name: string): void;
  /** Removes all that were registered. */
  close(): void;
}

export function createProviders(registry: ModelRegistry): ProviderPort {
  const names = new Set<string>();
  const unregister = (name: string) => {
    names.delete(name);
    registry.unregisterProvider(name);
    unregisterApiProviders(getSourceId(name));
  };
  return {
    register(name, config) {
      const { streamSimple, oauth: _oauth, refreshModels: _refresh, ...description } = config;
      const api = streamSimple ? (config.api ?? `extension:${name}`) : config.api;
      registry.registerProvider(name, { ...description, ...(api !== undefined && { api }) });
      if (streamSimple) {
        const stream = streamSimple as ApiProvider["stream"];
        registerApiProvider({ api: api!, stream, streamSimple: stream }, getSourceId(name));
      }
      names.add(name);
    },
    unregister,
    close: () => names.forEach(unregister),
  };
}

const getSourceId = (name: string): string => `extension:${name}`;
