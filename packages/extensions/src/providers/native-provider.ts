/** pi's complete providers, which have functions for models, keys, logins and requests, as a `ProviderConfig`. */
import { access } from "node:fs/promises";
import { homedir } from "node:os";
import type { AssistantMessageEvent, Context, Model, SimpleStreamOptions } from "@tau/ai";
import { withoutUndefined } from "@tau/ai/internal";
import { expandHome } from "@tau/config/internal";
import { startLate } from "./late-stream.ts";
import type {
  AuthInteraction,
  ModelAuth,
  NativeProvider,
  OAuthLoginCallbacks,
  ProviderConfig,
  RefreshModelsContext,
} from "./provider-config.ts";
import { ExtensionError } from "../errors.ts";

type Fields = Record<string, unknown>;

export const isNativeProvider = (value: object): value is NativeProvider =>
  typeof (value as Partial<NativeProvider>).getModels === "function";

/** Stands for a key where the provider needs none. */
const noKey = "no-key-needed";

export function toProviderConfig(provider: NativeProvider): ProviderConfig {
  const { id, name, baseUrl, headers, auth = {} } = provider;
  /** The result of the last login, by its key: it may have an address and headers besides, or instead. */
  let loggedIn: { key: string; auth: ModelAuth } | undefined;
  const resolveAuth = async ({ apiKey, signal = new AbortController().signal }: SimpleStreamOptions) => {
    if (apiKey !== undefined && apiKey === loggedIn?.key) return loggedIn.auth;
    const isStored = apiKey !== undefined && apiKey !== noKey;
    const credential = isStored ? { type: "api_key", key: apiKey } : undefined;
    const ctx = createAuthContext();
    const resolved = await auth.apiKey?.resolve(withoutUndefined({ ctx, credential, signal }));
    if (!resolved && !isStored)
      throw new ExtensionError("unavailable", `There is no key for ${name ?? id}. Log in, or set one.`);
    const { env } = resolved ?? {};
    return { ...(isStored && { apiKey }), ...resolved?.auth, ...(env && { env }) };
  };
  const { oauth, apiKey } = auth;
  return withoutUndefined({
    name,
    baseUrl,
    headers: headers && withoutNull(headers),
    // Models may have APIs of ours, which stay as they are: requests go through the provider.
    api: `extension:${id}`,
    models: describeModels(provider),
    streamSimple: (model: Model, context: Context, options: SimpleStreamOptions = {}) =>
      startLate(model, async () => {
        const found = await resolveAuth(options);
        const own = provider.getModels().find((each) => each.id === model.id);
        const asked = { ...model, api: own?.api ?? model.api, baseUrl: found.baseUrl ?? model.baseUrl };
        const { apiKey: _key, headers: sent, ...rest } = options;
        const extra = { ...found, headers: withoutNull({ ...sent, ...found.headers }) };
        return withApi(await provider.streamSimple(asked, context, { ...rest, ...extra }), model.api);
      }),
    findKey:
      apiKey &&
      (async () => {
        const resolved = await apiKey.resolve({ ctx: createAuthContext(), signal: new AbortController().signal });
        return resolved && (resolved.auth.apiKey ?? noKey);
      }),
    oauth: oauth && {
      name: oauth.name,
      login: (callbacks: OAuthLoginCallbacks) => oauth.login(toInteraction(callbacks)),
      refreshToken: (credential: Fields, signal: AbortSignal) => oauth.refresh(credential, signal),
      async getApiKey(credential: Fields) {
        const given = await oauth.toAuth({ ...credential, type: "oauth" });
        loggedIn = { key: given.apiKey ?? String(credential["access"]), auth: given };
        return loggedIn.key;
      },
    },
    refreshModels:
      provider.refreshModels &&
      (async (context: RefreshModelsContext) => {
        await provider.refreshModels!(withoutNoKey(context));
        return describeModels(provider);
      }),
  });
}

/** Removes the placeholder for a key, which is of no use to a server. */
function withoutNoKey(context: RefreshModelsContext): RefreshModelsContext {
  const { credential } = context;
  if (credential?.type !== "api_key" || credential.key !== noKey) return context;
  const { key: _key, ...rest } = credential;
  return { ...context, credential: rest };
}

/** Only models for conversations. */
const describeModels = (provider: NativeProvider): Fields[] =>
  provider
    .getModels()
    .filter((model) => ((model as { type?: string }).type ?? "chat") === "chat")
    .map(({ provider: _provider, api: _api, headers, ...model }) => ({
      ...model,
      ...(headers && { headers: withoutNull(headers) }),
    }));

const withoutNull = (headers: Readonly<Record<string, string | null>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter((pair): pair is [string, string] => pair[1] !== null));

const createAuthContext = () => ({
  env: async (name: string) => process.env[name] || undefined,
  fileExists: (path: string) =>
    access(expandHome(path, homedir())).then(
      () => true,
      () => false,
    ),
});

/** The answer names the API of the model as it is registered: otherwise it would count as that of another model. */
async function* withApi(events: AsyncIterable<AssistantMessageEvent>, api: string) {
  for await (const event of events) {
    const message = "partial" in event ? event.partial : event.type === "done" ? event.message : event.error;
    message.api = api;
    yield event;
  }
}

const toInteraction = (callbacks: OAuthLoginCallbacks): AuthInteraction => ({
  signal: callbacks.signal,
  async prompt({ type, options = [], ...question }) {
    if (type !== "select") return await callbacks.onPrompt(question);
    const chosen = await callbacks.onSelect({ message: question.message, options });
    if (chosen === undefined) throw new ExtensionError("cancelled", "It was cancelled.");
    return chosen;
  },
  notify(event) {
    if (event.type === "auth_url") callbacks.onAuth(event);
    else if (event.type === "device_code") callbacks.onDeviceCode(event);
    else callbacks.onProgress(event.message);
  },
});
