/** Providers of extensions: their models, their logins and their own stream functions are added to those of the session. */
import {
  type ApiProvider,
  type Clock,
  type Context,
  type Message,
  registerApiProvider,
  unregisterApiProviders,
} from "@tau/ai";
import { getBuiltinProvider, getErrorMessage, replaceApi, untilTimeout } from "@tau/ai/internal";
import type { AuthStorage } from "@tau/config/auth";
import type { ModelRegistry } from "@tau/config/models";
import { ExtensionError } from "../errors.ts";
import type { Extension, ExtensionProblem } from "../api/extension.ts";
import { findProviderProblem } from "../isolated/provider-problem.ts";
import type { ListedRegistrations } from "../load/list-registrations.ts";
import type { ProviderConfig } from "./provider-config.ts";
import { followProvider } from "./follow-provider.ts";
import { toCustomLogin } from "./provider-login.ts";
import { getVirtualName, toVirtualModel } from "./virtual-models.ts";

export interface ProviderPort {
  /** The providers that are registered, by their names. */
  readonly configs: ReadonlyMap<string, ProviderConfig>;
  register(name: string, config: ProviderConfig): void;
  unregister(name: string): void;
  /**
   * Registers one of an isolated extension. Throws if it would take anything of the user, or the place of a provider that
   * is not of this extension.
   */
  registerIsolated(extension: string, name: string, config: ProviderConfig): void;
  /** Takes one of an isolated extension away, or all of them. */
  unregisterIsolated(extension: string, name?: string): void;
  /** Whether it is a provider of an extension that is not trusted. */
  isIsolated(name: string): boolean;
  /** Lists the virtual models of these extensions, and no others. One with the name of another model is reported. */
  setVirtualModels(extensions: readonly Pick<Extension, "source" | "virtualModels">[]): void;
  /** Resolves when the providers without models have looked for them, and those that look for keys for these. */
  settle(): Promise<void>;
  /** Removes all that were registered. */
  close(): void;
}

interface ProvidersParts {
  registry: ModelRegistry;
  auth: AuthStorage;
  clock: Clock;
  /** Whether providers may ask servers for their models. Default true. */
  allowNetwork?: boolean;
  report: (problem: ExtensionProblem) => void;
}

/** A session does not wait longer for what a provider looks for. */
const maxSettleMs = 5_000;

export function createProviders(parts: ProvidersParts): ProviderPort {
  const { registry, auth, clock, allowNetwork = true, report } = parts;
  const configs = new Map<string, ProviderConfig>();
  /** By the name of the provider: what removes its API, its login and what looks for its models. */
  const removals = new Map<string, readonly (() => void)[]>();
  /** The isolated extensions of providers, by the name of the provider. */
  const isolated = new Map<string, string>();
  /** By the name of the provider: what aborts when it is taken away, but not when it is registered again. */
  const ends = new Map<string, AbortController>();
  let waiting: Promise<void>[] = [];
  /** Whose virtual models the registry has. */
  const owner = {};
  const removeParts = (name: string) => {
    for (const remove of removals.get(name) ?? []) remove();
    removals.delete(name);
  };
  const unregister = (name: string) => {
    removeParts(name);
    ends.get(name)?.abort();
    ends.delete(name);
    isolated.delete(name);
    configs.delete(name);
    registry.unregisterProvider(name);
  };
  const add = (name: string, config: ProviderConfig, isolatedExtension?: string) => {
    const { streamSimple, oauth, refreshModels, findKey, ...description } = config;
    const api = streamSimple ? (config.api ?? `extension:${name}`) : config.api;
    const describe = (change: Pick<ProviderConfig, "models" | "apiKey">) =>
      registry.registerProvider(
        name,
        { ...description, ...(api !== undefined && { api }), ...change },
        { hasOwnStream: streamSimple !== undefined },
      );
    describe(refreshModels && !config.models ? { models: [] } : {});
    configs.set(name, config);
    if (isolatedExtension === undefined) isolated.delete(name);
    removeParts(name);
    const added: (() => void)[] = [];
    removals.set(name, added);
    if (streamSimple) added.push(addStream(name, api!, streamSimple));
    const end = ends.get(name) ?? new AbortController();
    ends.set(name, end);
    if (oauth) added.push(auth.registerLogin(toCustomLogin(name, oauth, end.signal)));
    if (!refreshModels && !findKey && !oauth?.modifyModels) return;
    const followed = followProvider(name, config, { registry, auth, allowNetwork, describe, report });
    added.push(() => followed.stop());
    // A login may change the address of models. A session that chose one before would use the old address.
    if (findKey || oauth?.modifyModels || !config.models?.length) waiting.push(followed.first);
  };
  const unregisterIsolated = (extension: string, name?: string) => {
    for (const [each, owner] of isolated) {
      if (owner === extension && (name === undefined || each === name)) unregister(each);
    }
  };
  return {
    configs,
    register: (name, config) => add(name, config),
    unregister,
    registerIsolated(extension, name, config) {
      // What is left of the name is another provider, or a key that the user has given for it meanwhile.
      unregisterIsolated(extension, name);
      const problem = findProviderProblem(name, config, (provider) => registry.isKnown(provider));
      if (problem !== undefined)
        throw new ExtensionError("invalid_input", `${problem} To trust it: tau extensions trust ${extension}`);
      // Before it is registered: listeners ask whose it is.
      isolated.set(name, extension);
      try {
        add(name, config, extension);
      } catch (error) {
        isolated.delete(name);
        throw error;
      }
    },
    unregisterIsolated,
    isIsolated: (name) => isolated.has(name),
    setVirtualModels(extensions) {
      const models = extensions.flatMap(({ source, virtualModels }) =>
        [...virtualModels.values()].flatMap((definition) => {
          const model = toVirtualModel(definition);
          if (!registry.hasPhysicalModel(model.provider, model.id)) return [model];
          const message = `It registers the virtual model ${getVirtualName(model)}, but the provider has a model of this name.`;
          report({ extension: source.name, message });
          return [];
        }),
      );
      registry.setVirtualModels(owner, models);
    },
    async settle() {
      const all = waiting;
      waiting = [];
      if (all.length > 0) await untilTimeout(Promise.all(all), maxSettleMs, clock);
    },
    close() {
      [...removals.keys()].forEach(unregister);
      registry.setVirtualModels(owner, []);
    },
  };
}

/**
 * Registers those of all extensions, and returns what is wrong with some. Isolated ones come last, with what neither
 * takes anything of the user nor the place of another provider.
 */
export function registerProviders(
  extensions: readonly Pick<ListedRegistrations, "source" | "host" | "providers">[],
  { register, registerIsolated }: Pick<ProviderPort, "register" | "registerIsolated">,
): ExtensionProblem[] {
  const problems: ExtensionProblem[] = [];
  const isolatedLast = extensions.toSorted((a, b) => Number(a.host === "isolated") - Number(b.host === "isolated"));
  for (const { source, host, providers } of isolatedLast) {
    for (const [name, config] of providers) {
      try {
        if (host === "isolated") registerIsolated(source.name, name, config);
        else register(name, config);
      } catch (error) {
        problems.push({ extension: source.name, message: getErrorMessage(error) });
      }
    }
  }
  return problems;
}

/** By API, the newest last. All sessions of the process share the APIs, and each of them loads its extensions. */
const apis = new Map<string, ApiProvider[]>();

/** Returns what removes it. An API of ours is replaced for the models of the provider only: others use it too. */
function addStream(name: string, api: string, streamSimple: ApiProvider["streamSimple"]): () => void {
  const stream: ApiProvider["stream"] = (model, context, options) =>
    streamSimple(model, withSystemMessage(context), options);
  const provider: ApiProvider = { api, stream, streamSimple: stream };
  return getBuiltinProvider(api) ? replaceApi(name, provider) : addApi(api, provider);
}

/** The newest applies, as long as it is there. Returns what removes this one. */
function addApi(api: string, provider: ApiProvider): () => void {
  const sourceId = `extension:${api}`;
  apis.set(api, [...(apis.get(api) ?? []), provider]);
  registerApiProvider(provider, sourceId);
  return () => {
    const others = apis.get(api)!.filter((each) => each !== provider);
    apis.set(api, others);
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
