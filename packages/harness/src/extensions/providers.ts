/** Providers of extensions: their models are added to the registry, and their own stream functions to the APIs. */
import { type ApiProvider, type Context, type Message, registerApiProvider, unregisterApiProviders } from "@tau/ai";
import type { ModelRegistry } from "../models/model-registry.ts";
import { getErrorMessage } from "@tau/ai/internal";
import type { ProviderConfig } from "./api.ts";
import type { ExtensionProblem } from "./extension.ts";
import type { ListedRegistrations } from "./list-registrations.ts";

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
        const stream: ApiProvider["stream"] = (model, context, options) =>
          streamSimple(model, withSystemMessage(context), options);
        registerApiProvider({ api: api!, stream, streamSimple: stream }, getSourceId(name));
      }
      names.add(name);
    },
    unregister,
    close: () => names.forEach(unregister),
  };
}

/** Registers those of all extensions, and returns what is wrong with some. */
export function registerProviders(
  extensions: readonly Pick<ListedRegistrations, "source" | "providers">[],
  { register }: Pick<ProviderPort, "register">,
): ExtensionProblem[] {
  const problems: ExtensionProblem[] = [];
  for (const { source, providers } of extensions) {
    for (const [name, config] of providers) {
      try {
        register(name, config);
      } catch (error) {
        problems.push({ extension: source.name, message: getErrorMessage(error) });
      }
    }
  }
  return problems;
}

const getSourceId = (name: string): string => `extension:${name}`;

/** Some look for the prompt and the tools in a first system message, others beside the messages. */
function withSystemMessage(context: Context): Context {
  const { systemPrompt, tools = [], messages } = context;
  if (systemPrompt === undefined && tools.length === 0) return context;
  const added = tools.length > 0 ? { toolsAdded: [...tools] } : {};
  const system = { role: "system", content: systemPrompt ?? "", ...added, timestamp: Date.now() };
  return { ...context, messages: [system as unknown as Message, ...messages] };
}
