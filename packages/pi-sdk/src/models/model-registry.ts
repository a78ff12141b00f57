/** pi's `ModelRegistry`: the built-in models, those of `models.json`, and those that extensions register. */
import { join } from "node:path";
import {
  type ApiProvider,
  type AssistantMessage,
  type AssistantMessageEventStream,
  type Context,
  type Model,
  type ProviderStreamOptions,
  type SimpleStreamOptions,
  type StreamOptions,
  unregisterApiProviders,
} from "@tau/ai";
import { getErrorMessage } from "@tau/ai/internal";
import {
  getAgentDir,
  lazyStream,
  type OAuthProvider,
  registerApiProvider,
  registerOAuthProvider,
  stream,
  streamSimple,
  unregisterOAuthProvider,
} from "@tau/pi/internal";
import type { AuthStorage } from "../auth/auth-storage.ts";
import { resolveConfigValue } from "../auth/config-value.ts";
import { mergeModels, mergeProvider, type ProviderConfig, type Providers, readModelsJson } from "./models-json.ts";

export interface ProviderConfigInput extends ProviderConfig {
  streamSimple?: ApiProvider["streamSimple"];
  oauth?: Omit<OAuthProvider, "id">;
}

export class ModelRegistry {
  readonly authStorage: AuthStorage;
  readonly #path: string | undefined;
  #providers: Providers = {};
  #models: Model[] = [];
  #error: string | undefined;
  readonly #registered = new Map<string, ProviderConfigInput>();

  constructor(authStorage: AuthStorage, modelsJsonPath: string | undefined = join(getAgentDir(), "models.json")) {
    this.authStorage = authStorage;
    this.#path = modelsJsonPath;
    authStorage.setFallbackResolver((provider) => this.#getConfiguredKey(provider));
    this.refresh();
  }

  static create(authStorage: AuthStorage, modelsJsonPath?: string): ModelRegistry {
    return new ModelRegistry(authStorage, modelsJsonPath);
  }

  /** Without a file. */
  static inMemory(authStorage: AuthStorage): ModelRegistry {
    return new ModelRegistry(authStorage, "");
  }

  /** Reads `models.json` again. */
  refresh(): void {
    this.#error = undefined;
    this.#providers = {};
    try {
      if (this.#path) this.#providers = readModelsJson(this.#path);
    } catch (error) {
      this.#error = getErrorMessage(error);
    }
    this.#models = mergeModels(this.#providers);
    for (const [name, config] of this.#registered) this.#apply(name, config);
  }

  /** Why `models.json` is not used. */
  getError(): string | undefined {
    return this.#error;
  }

  getAll(): Model[] {
    return [...this.#models];
  }

  /** The models whose provider has a key. */
  getAvailable(): Model[] {
    return this.#models.filter((model) => this.hasConfiguredAuth(model));
  }

  find(provider: string, modelId: string): Model | undefined {
    return this.#models.find((model) => model.provider === provider && model.id === modelId);
  }

  /** Runs no command. */
  hasConfiguredAuth(model: Model): boolean {
    return this.#getWrittenKey(model.provider) !== undefined || this.authStorage.hasAuth(model.provider);
  }

  /** Runs no command. Keys of the environment and of this process have no source. */
  getProviderAuthStatus(provider: string): { configured: boolean; source?: string } {
    if (this.authStorage.has(provider)) return { configured: true, source: "stored" };
    const key = this.#getWrittenKey(provider);
    if (key === undefined) return { configured: this.authStorage.hasAuth(provider) };
    return { configured: true, source: key.startsWith("!") ? "models_json_command" : "models_json_key" };
  }

  async getApiKey(model: Model): Promise<string | undefined> {
    return await this.authStorage.getApiKey(model.provider);
  }

  async getApiKeyForProvider(provider: string): Promise<string | undefined> {
    return await this.authStorage.getApiKey(provider);
  }

  async getApiKeyAndHeaders(
    model: Model,
  ): Promise<{ ok: true; apiKey?: string; headers?: Record<string, string> } | { ok: false; error: string }> {
    try {
      const apiKey = await this.getApiKey(model);
      return { ok: true, ...(apiKey !== undefined && { apiKey }), ...(model.headers && { headers: model.headers }) };
    } catch (error) {
      return { ok: false, error: getErrorMessage(error) };
    }
  }

  /** Sends a request with the key of its provider. */
  stream(model: Model, context: Context, options?: ProviderStreamOptions): AssistantMessageEventStream {
    return lazyStream(model, async () => stream(model, context, { ...(await this.#getAuth(model)), ...options }));
  }

  streamSimple(model: Model, context: Context, options?: SimpleStreamOptions): AssistantMessageEventStream {
    return lazyStream(model, async () => streamSimple(model, context, { ...(await this.#getAuth(model)), ...options }));
  }

  async complete(model: Model, context: Context, options?: ProviderStreamOptions): Promise<AssistantMessage> {
    return await this.stream(model, context, options).result();
  }

  /** All models that tau knows are for conversations, the type `chat`. */
  getModelsOfType(type: string, provider?: string): Model[] {
    return type === "chat" ? this.#models.filter((model) => !provider || model.provider === provider) : [];
  }

  async getAvailableOfType(type: string, provider?: string): Promise<Model[]> {
    return this.getModelsOfType(type, provider).filter((model) => this.hasConfiguredAuth(model));
  }

  getModelOfType(type: string, provider: string, modelId: string): Model | undefined {
    return this.getModelsOfType(type, provider).find(({ id }) => id === modelId);
  }

  findOfType(type: string, provider: string, modelId: string): Model | undefined {
    return this.getModelOfType(type, provider, modelId);
  }

  async #getAuth(model: Model): Promise<Pick<StreamOptions, "apiKey">> {
    const apiKey = await this.getApiKey(model);
    return apiKey === undefined ? {} : { apiKey };
  }

  isUsingOAuth(model: Model): boolean {
    return this.authStorage.get(model.provider)?.type === "oauth";
  }

  getProviderDisplayName(provider: string): string {
    return this.#registered.get(provider)?.name ?? this.#providers[provider]?.name ?? provider;
  }

  getRegisteredProviderIds(): readonly string[] {
    return [...this.#registered.keys()];
  }

  getRegisteredProviderConfig(provider: string): ProviderConfigInput | undefined {
    return this.#registered.get(provider);
  }

  /** With models, these are all that the provider has; without, its models are sent elsewhere or with other headers. */
  registerProvider(name: string, config: ProviderConfigInput): void {
    checkInput(name, config);
    const merged = mergeConfigs(this.#registered.get(name) ?? {}, config);
    this.#registered.set(name, merged);
    this.#apply(name, merged);
  }

  unregisterProvider(name: string): void {
    if (!this.#registered.delete(name)) return;
    unregisterApiProviders(`provider:${name}`);
    unregisterOAuthProvider(name);
    this.refresh();
  }

  #apply(name: string, config: ProviderConfigInput): void {
    const { streamSimple, oauth } = config;
    if (oauth) registerOAuthProvider({ ...oauth, id: name });
    if (streamSimple && config.api) {
      registerApiProvider({ api: config.api, stream: streamSimple, streamSimple }, `provider:${name}`);
    }
    const own = this.#models.filter(({ provider }) => provider === name);
    const replaced = mergeProvider(name, config.models?.length ? [] : own, config);
    this.#models = [...this.#models.filter(({ provider }) => provider !== name), ...replaced];
    const credential = this.authStorage.get(name);
    if (credential?.type === "oauth") this.#models = oauth?.modifyModels?.(this.#models, credential) ?? this.#models;
  }

  #getWrittenKey(provider: string): string | undefined {
    return this.#registered.get(provider)?.apiKey ?? this.#providers[provider]?.apiKey;
  }

  #getConfiguredKey(provider: string): string | undefined {
    const key = this.#getWrittenKey(provider);
    return key === undefined ? undefined : resolveConfigValue(key);
  }
}

/** A base URL without models is also that of the models registered before, even if they had their own. */
function mergeConfigs(previous: ProviderConfigInput, config: ProviderConfigInput): ProviderConfigInput {
  const { models: own, ...fields } = config;
  if (own?.length) return { ...previous, ...config };
  const models = previous.models?.map(({ baseUrl, ...model }) =>
    baseUrl === undefined || fields.baseUrl !== undefined ? model : { ...model, baseUrl },
  );
  return { ...previous, ...fields, ...(models && { models }) };
}

function checkInput(name: string, { streamSimple, api, models, baseUrl, apiKey, oauth }: ProviderConfigInput): void {
  if (streamSimple && !api) {
    throw new Error(`Provider ${name}: "api" is required when registering streamSimple.`);
  }
  if (!models || models.length === 0) return;
  if (!baseUrl) throw new Error(`Provider ${name}: "baseUrl" is required when defining models.`);
  if (!apiKey && !oauth) throw new Error(`Provider ${name}: "apiKey" or "oauth" is required when defining models.`);
  for (const model of models) {
    if (!model.api && !api) throw new Error(`Provider ${name}, model ${model.id}: no "api" specified.`);
  }
}
