/** Providers of extensions: their models are added to the registry, and their own stream functions to the APIs. */
import { type ApiProvider, type Context, type Message, registerApiProvider, unregisterApiProviders } from "@tau/ai";
import type { ModelRegistry } from "../models/model-registry.ts";
import { getErrorMessage } from "@tau/ai/internal";
import type { ProviderConfig } from "./api.ts";
import type { Extension, ExtensionProblem } from "./extension.ts";
import { findProviderProblem } from "./isolated/provider-problem.ts";
import type { ListedRegistrations } from "./list-registrations.ts";

export interface ProviderPort {
  /** `host` is where the code of the extension runs. Default: in this process. */
  register(name: string, config: ProviderConfig, host?: Extension["host"]): void;
  unregister(name: string): void;
  /** Whether it is a provider of an extension that is not trusted. */
  isIsolated(name: string): boolean;
  /** Whether there is a provider of this name, or a key for one. */
  isKnown(name: string): boolean;
  /** Removes all that were registered. */
  close(): void;
}

export function createProviders(registry: ModelRegistry): ProviderPort {
  /** By the name of the provider: what removes its API. */
  const removals = new Map<string, () => void>();
  const isolated = new Set<string>();
  const unregister = (name: string) => {
    removals.get(name)?.();
    removals.delete(name);
    isolated.delete(name);
    registry.unregisterProvider(name);
  };
  return {
    register(name, config, host = "process") {
      const { streamSimple, oauth: _oauth, refreshModels: _refresh, ...description } = config;
      const api = streamSimple ? (config.api ?? `extension:${name}`) : config.api;
      registry.registerProvider(name, { ...description, ...(api !== undefined && { api }) });
      if (host === "isolated") isolated.add(name);
      else isolated.delete(name);
      removals.get(name)?.();
      removals.set(name, streamSimple ? addApi(api!, streamSimple) : () => {});
    },
    unregister,
    isIsolated: (name) => isolated.has(name),
    isKnown: (name) => registry.isKnown(name),
    close: () => [...removals.keys()].forEach(unregister),
  };
}

/**
 * Registers those of all extensions, and returns what is wrong with some. Isolated ones come last, with what neither
 * takes anything of the user nor the place of another provider.
 */
export function registerProviders(
  extensions: readonly Pick<ListedRegistrations, "source" | "host" | "providers">[],
  { register, isKnown }: Pick<ProviderPort, "register" | "isKnown">,
): ExtensionProblem[] {
  const problems: ExtensionProblem[] = [];
  const isolatedLast = extensions.toSorted((a, b) => Number(a.host === "isolated") - Number(b.host === "isolated"));
  for (const { source, host, providers } of isolatedLast) {
    for (const [name, config] of providers) {
      const problem = host === "isolated" ? findProviderProblem(name, config, isKnown) : undefined;
      try {
        if (problem === undefined) register(name, config, host);
        else
          problems.push({
            extension: source.name,
            message: `${problem} To trust it: tau extensions trust ${source.name}`,
          });
      } catch (error) {
        problems.push({ extension: source.name, message: getErrorMessage(error) });
      }
    }
  }
  return problems;
}

/** By API, the newest last. All sessions of the process share the APIs, and each of them loads its extensions. */
const added = new Map<string, ApiProvider[]>();

/** The newest counts, as long as it is there. Returns what removes this one. */
function addApi(api: string, streamSimple: ApiProvider["streamSimple"]): () => void {
  const stream: ApiProvider["stream"] = (model, context, options) =>
    streamSimple(model, withSystemMessage(context), options);
  const provider: ApiProvider = { api, stream, streamSimple: stream };
  const sourceId = `extension:${api}`;
  added.set(api, [...(added.get(api) ?? []), provider]);
  registerApiProvider(provider, sourceId);
  return () => {
    const others = added.get(api)!.filter((each) => each !== provider);
    added.set(api, others);
    const newest = others.at(-1);
    if (newest) registerApiProvider(newest, sourceId);
    else unregisterApiProviders(sourceId);
  };
}

/** Some look for the prompt and the tools in a first system message, others beside the messages. */
function withSystemMessage(context: Context): Context {
  const { systemPrompt, tools = [], messages } = context;
  if (systemPrompt === undefined && tools.length === 0) return context;
  const added = tools.length > 0 ? { toolsAdded: [...tools] } : {};
  const system = { role: "system", content: systemPrompt ?? "", ...added, timestamp: Date.now() };
  return { ...context, messages: [system as unknown as Message, ...messages] };
}
