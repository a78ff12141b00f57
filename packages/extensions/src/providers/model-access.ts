/** Gives extensions the models of a session, with requests that have the keys of the user. */
import type { StreamFn } from "@tau/agent";
import type { AuthStorage } from "@tau/config/auth";
import type { ModelRegistry } from "@tau/config/models";
import type { ModelAccess } from "../api/model-access.ts";
import { startLate } from "./late-stream.ts";
import type { ProviderPort } from "./providers.ts";

interface ModelAccessParts {
  registry: ModelRegistry;
  auth: AuthStorage;
  /** Asks a model, with keys and headers. */
  request: StreamFn;
  providers: ProviderPort;
}

/** Logins are looked up once. */
export async function createModelAccess(parts: ModelAccessParts): Promise<ModelAccess> {
  const { registry, auth, request, providers } = parts;
  const logins = new Set((await auth.list()).filter(({ type }) => type === "oauth").map(({ provider }) => provider));
  const getKey = async (provider: string, host?: string): Promise<string | undefined> => {
    const outcome = await auth.getApiKey(provider, host === undefined || host === "" ? {} : { host });
    return outcome.kind === "found" ? outcome.key : undefined;
  };
  // A key has to be looked up before there is a stream.
  const streamSimple: ModelAccess["streamSimple"] = (...question) => startLate(question[0], () => request(...question));
  return {
    getAll: () => registry.getAll(),
    getAvailable: () => registry.getAvailable(),
    find: (provider, modelId) => registry.find(provider, modelId),
    findOfType: (type, provider, modelId) => (type === "chat" ? registry.find(provider, modelId) : undefined),
    findRole(role) {
      if (!Object.hasOwn(registry.getRoles(), role)) return undefined;
      const resolution = registry.resolve(`@${role}`);
      if (resolution.kind !== "resolved") return undefined;
      const { model, thinkingLevel } = resolution;
      return { model, ...(thinkingLevel !== undefined && { thinkingLevel }) };
    },
    hasConfiguredAuth: ({ provider }) => registry.getAvailable().some((model) => model.provider === provider),
    isUsingOAuth: ({ provider }) => logins.has(provider),
    async getApiKeyAndHeaders(model) {
      const apiKey = await getKey(model.provider, model.baseUrl);
      const resolved = await registry.requestHeaders(model, apiKey);
      if (resolved.kind === "unresolved") return { ok: false, error: resolved.message };
      return { ok: true, ...(apiKey !== undefined && { apiKey }), headers: resolved.headers };
    },
    getApiKey: (model) => getKey(model.provider, model.baseUrl),
    getApiKeyForProvider: (provider) => getKey(provider, registry.baseUrl(provider)),
    getProviderDisplayName: (provider) => registry.displayName(provider) ?? provider,
    displayName: (provider) => registry.displayName(provider),
    getError: () => registry.problems[0]?.message,
    refresh: () => registry.refresh(),
    streamSimple,
    stream: streamSimple,
    complete: (...question) => streamSimple(...question).result(),
    registerProvider: (name, config) => providers.register(name, config),
    unregisterProvider: (name) => providers.unregister(name),
  };
}
