/** Gives extensions the models of a session, with requests that have the keys of the user. */
import type { StreamFn } from "@tau/agent";
import type { Model } from "@tau/ai";
import type { AuthStorage } from "@tau/config/auth";
import type { ModelRegistry } from "@tau/config/models";
import type { ModelAccess } from "../api/model-access.ts";
import { filterOfType } from "./filter-of-type.ts";
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
  const stored = await auth.list();
  const logins = new Set(stored.filter(({ type }) => type === "oauth").map(({ provider }) => provider));
  const find: ModelAccess["find"] = (provider, modelId) => registry.find(provider, modelId);
  const findOfType: ModelAccess["findOfType"] = (type, ...id) => (type === "chat" ? find(...id) : undefined);
  const hasConfiguredAuth: ModelAccess["hasConfiguredAuth"] = ({ provider }) =>
    registry.getAvailable().some((model) => model.provider === provider);
  const getKey = async (provider: string, host?: string): Promise<string | undefined> => {
    const outcome = await auth.getApiKey(provider, host === undefined || host === "" ? {} : { host });
    return outcome.kind === "found" ? outcome.key : undefined;
  };
  // A key has to be looked up before there is a stream.
  const streamSimple: ModelAccess["streamSimple"] = (...question) => startLate(question[0], () => request(...question));
  return {
    getAll: () => registry.getAll(),
    getAvailable: () => registry.getAvailable(),
    find,
    findOfType,
    getModelOfType: findOfType,
    getModelsOfType: (type, provider) => filterOfType(registry.getAll(), type, provider),
    getAvailableOfType: async (type, provider) => filterOfType(registry.getAvailable(), type, provider),
    findRole(role) {
      if (!Object.hasOwn(registry.getRoles(), role)) return undefined;
      const resolution = registry.resolve(`@${role}`);
      if (resolution.kind !== "resolved") return undefined;
      const { model, thinkingLevel } = resolution;
      return { model, ...(thinkingLevel !== undefined && { thinkingLevel }) };
    },
    hasConfiguredAuth,
    isUsingOAuth: ({ provider }) => logins.has(provider),
    async getApiKeyAndHeaders(model) {
      const apiKey = await getKey(model.provider, model.baseUrl);
      const resolved = await registry.requestHeaders(model, apiKey);
      if (resolved.kind === "unresolved") return { ok: false, error: resolved.message };
      return { ok: true, ...(apiKey !== undefined && { apiKey }), headers: resolved.headers };
    },
    getApiKey: (model) => getKey(model.provider, model.baseUrl),
    getApiKeyForProvider: (provider) => getKey(provider, registry.baseUrl(provider)),
    getProviderAuthStatus(provider) {
      const isStored = stored.some((each) => each.provider === provider && each.source === "stored");
      return isStored ? { configured: true, source: "stored" } : { configured: hasConfiguredAuth({ provider }) };
    },
    async getProviderAuth(provider) {
      const baseUrl = registry.baseUrl(provider);
      const outcome = await auth.getApiKey(provider, baseUrl === undefined ? {} : { host: baseUrl });
      const key = outcome.kind === "found" ? outcome : undefined;
      const models = filterOfType(registry.getAll(), "chat", provider);
      const resolved = models[0] && (await registry.requestHeaders(models[0], key?.key));
      const headers = { ...getSharedHeaders(models), ...(resolved?.kind === "ready" && resolved.headers) };
      const hasHeaders = Object.keys(headers).length > 0;
      if (!key && !hasHeaders) return undefined;
      const given = { ...(key && { apiKey: key.key }), ...(hasHeaders && { headers }) };
      return { auth: { ...given, ...(baseUrl !== undefined && { baseUrl }) }, ...(key && { source: key.origin }) };
    },
    getProviderDisplayName: (provider) => registry.displayName(provider) ?? provider,
    displayName: (provider) => registry.displayName(provider),
    getError: () => registry.problems[0]?.message,
    refresh: () => registry.refresh(),
    streamSimple,
    stream: streamSimple,
    complete: (...question) => streamSimple(...question).result(),
    registerProvider: (name, config) => providers.register(name, config),
    unregisterProvider: (name) => providers.unregister(name),
    getRegisteredProviderIds: () => [...providers.configs.keys()],
    getRegisteredProviderConfig: (name) => providers.configs.get(name),
  };
}

/** The headers of all models of a provider: others are those of single models. */
const getSharedHeaders = ([first, ...others]: readonly Model[]): Record<string, string> =>
  Object.fromEntries(
    Object.entries(first?.headers ?? {}).filter(([name, value]) =>
      others.every(({ headers }) => headers?.[name] === value),
    ),
  );
