/** pi's `ModelRuntime`: the models and the credentials of a program in one object, which its sessions share. */
import { join } from "node:path";
import type {
  AssistantMessage,
  AssistantMessageEventStream,
  Context,
  Model,
  ProviderStreamOptions,
  SimpleStreamOptions,
} from "@tau/ai";
import { getAgentDir } from "@tau/pi/internal";
import { type AuthCredential, AuthStorage } from "../auth/auth-storage.ts";
import { type CredentialStore, openCredentialStore } from "../auth/credential-store.ts";
import { ModelRegistry, type ProviderConfigInput } from "./model-registry.ts";

export interface CreateModelRuntimeOptions {
  /** Default: the file at `authPath`. */
  credentials?: CredentialStore | AuthStorage;
  /** Default: `auth.json` of the agent directory. */
  authPath?: string;
  /** Default: `models.json` of the agent directory. Null: without a file. */
  modelsPath?: string | null;
  signal?: AbortSignal;
}

interface ModelAuthResult {
  auth: { apiKey?: string; headers?: Record<string, string>; baseUrl?: string };
  source?: string;
}

/** A provider with the members that pi's have and that do not send requests. */
interface RuntimeProvider {
  readonly id: string;
  readonly name: string;
  readonly baseUrl?: string;
  getModels(): readonly Model[];
}

interface AuthOverrides {
  apiKey?: string;
}

/** The callbacks of a login in pi's form since 1.0. */
interface AuthInteraction {
  signal?: AbortSignal;
  prompt(prompt: { type: string; message: string; [key: string]: unknown }): Promise<string>;
  notify(event: { type: string; [key: string]: unknown }): void;
}

/** A credential was changed, and the list of models could not be read again. */
export class CredentialSynchronizationError extends Error {
  override readonly name = "CredentialSynchronizationError";
  readonly providerId: string;
  readonly operation: string;
  readonly credential: AuthCredential | undefined;

  constructor(providerId: string, operation: string, credential: AuthCredential | undefined, options: ErrorOptions) {
    super(`The credential of ${providerId} was changed, but its models could not be read again.`, options);
    this.providerId = providerId;
    this.operation = operation;
    this.credential = credential;
  }
}

export class ModelRuntime {
  /** The registry of the same models, for sessions and extensions. */
  readonly registry: ModelRegistry;
  readonly #auth: AuthStorage;

  private constructor(auth: AuthStorage, registry: ModelRegistry) {
    this.#auth = auth;
    this.registry = registry;
  }

  static async create(options: CreateModelRuntimeOptions = {}): Promise<ModelRuntime> {
    const { credentials, authPath = join(getAgentDir(), "auth.json"), modelsPath } = options;
    options.signal?.throwIfAborted();
    const auth = credentials ? await openCredentialStore(credentials) : AuthStorage.create(authPath);
    return ModelRuntime.fromRegistry(new ModelRegistry(auth, modelsPath === null ? "" : modelsPath));
  }

  /** The runtime of a registry that exists already. */
  static fromRegistry(registry: ModelRegistry): ModelRuntime {
    return new ModelRuntime(registry.authStorage, registry);
  }

  // Models and providers.

  getProviders(): readonly RuntimeProvider[] {
    return [...new Set(this.getModels().map(({ provider }) => provider))].map((id) => this.#describeProvider(id));
  }

  getProvider(providerId: string): RuntimeProvider | undefined {
    return this.getModels(providerId).length > 0 ? this.#describeProvider(providerId) : undefined;
  }

  getModels(providerId?: string): readonly Model[] {
    return this.registry.getModelsOfType("chat", providerId);
  }

  getModel(providerId: string, modelId: string): Model | undefined {
    return this.registry.find(providerId, modelId);
  }

  getPhysicalModel(providerId: string, modelId: string): Model | undefined {
    return this.getModel(providerId, modelId);
  }

  getModelsOfType(type: string, providerId?: string): readonly Model[] {
    return this.registry.getModelsOfType(type, providerId);
  }

  getModelOfType(type: string, providerId: string, modelId: string): Model | undefined {
    return this.registry.getModelOfType(type, providerId, modelId);
  }

  getAllModels(providerId?: string): readonly Model[] {
    return this.getModels(providerId);
  }

  async getAvailable(providerId?: string): Promise<readonly Model[]> {
    return await this.registry.getAvailableOfType("chat", providerId);
  }

  async getAvailableOfType(type: string, providerId?: string): Promise<readonly Model[]> {
    return await this.registry.getAvailableOfType(type, providerId);
  }

  async getAllAvailable(providerId?: string): Promise<readonly Model[]> {
    return await this.getAvailable(providerId);
  }

  getAvailableSnapshot(): readonly Model[] {
    return this.registry.getAvailable();
  }

  /** Why `models.json` is not used. */
  getError(): string | undefined {
    return this.registry.getError();
  }

  /** Reads `models.json` and the credentials again. Asks no server. */
  async refresh(): Promise<{ aborted: boolean; errors: ReadonlyMap<string, Error> }> {
    this.#auth.reload();
    this.registry.refresh();
    return { aborted: false, errors: new Map() };
  }

  registerProvider(providerId: string, config: ProviderConfigInput): void {
    this.registry.registerProvider(providerId, config);
  }

  unregisterProvider(providerId: string): void {
    this.registry.unregisterProvider(providerId);
  }

  getRegisteredProviderIds(): readonly string[] {
    return this.registry.getRegisteredProviderIds();
  }

  getRegisteredProviderConfig(providerId: string): ProviderConfigInput | undefined {
    return this.registry.getRegisteredProviderConfig(providerId);
  }

  // Credentials.

  hasConfiguredAuth(providerId: string): boolean {
    return this.getProviderAuthStatus(providerId).configured;
  }

  getProviderAuthStatus(providerId: string): { configured: boolean; source?: string } {
    if (this.#auth.hasRuntimeApiKey(providerId)) return { configured: true, source: "runtime" };
    return this.registry.getProviderAuthStatus(providerId);
  }

  isUsingOAuth(providerId: string): boolean {
    return this.#auth.get(providerId)?.type === "oauth";
  }

  /** A login is paid by a subscription; a key is paid by use. */
  isUsingSubscription(providerId: string): boolean {
    return this.isUsingOAuth(providerId);
  }

  /** Undefined for a provider without credentials. Runs no command. */
  async checkAuth(providerId: string): Promise<{ type: "api_key" | "oauth"; source?: string } | undefined> {
    const { configured, source } = this.getProviderAuthStatus(providerId);
    if (!configured) return undefined;
    return { type: this.isUsingOAuth(providerId) ? "oauth" : "api_key", ...(source !== undefined && { source }) };
  }

  /** Undefined for a provider without credentials. */
  async getAuth(target: string | Model, { apiKey: given }: AuthOverrides = {}): Promise<ModelAuthResult | undefined> {
    const model = typeof target === "string" ? undefined : target;
    const providerId = model?.provider ?? (target as string);
    const apiKey = given ?? (await this.registry.getApiKeyForProvider(providerId));
    if (apiKey === undefined) return undefined;
    const { source } = this.getProviderAuthStatus(providerId);
    const { headers, baseUrl } = model ?? {};
    return {
      auth: { apiKey, ...(headers && { headers }), ...(baseUrl !== undefined && { baseUrl }) },
      ...(source !== undefined && { source }),
    };
  }

  getCompatibilityRequestConfig({ headers }: Model): { headers?: Record<string, string>; authHeader: boolean } {
    return { ...(headers && { headers }), authHeader: false };
  }

  /** Used before all other keys, in this process only. */
  async setRuntimeApiKey(providerId: string, apiKey: string): Promise<void> {
    this.#auth.setRuntimeApiKey(providerId, apiKey);
  }

  async removeRuntimeApiKey(providerId: string): Promise<void> {
    this.#auth.removeRuntimeApiKey(providerId);
  }

  async listCredentials(): Promise<readonly { providerId: string; type: AuthCredential["type"] }[]> {
    return Object.entries(this.#auth.getAll()).map(([providerId, { type }]) => ({ providerId, type }));
  }

  /** Asks for a key, or runs the login of an extension. `/login` has the logins of tau itself. */
  async login(providerId: string, type: AuthCredential["type"], interaction: AuthInteraction): Promise<AuthCredential> {
    if (type === "api_key") {
      const key = await interaction.prompt({ type: "secret", message: `API key of ${providerId}` });
      await this.#auth.modify(providerId, async () => ({ type, key }));
    } else {
      await this.#auth.login(providerId, toLoginCallbacks(interaction));
    }
    const credential = this.#auth.get(providerId)!;
    this.#readModelsAgain(providerId, "login", credential);
    return credential;
  }

  async logout(providerId: string): Promise<void> {
    await this.#auth.delete(providerId);
    this.#readModelsAgain(providerId, "logout", undefined);
  }

  #readModelsAgain(providerId: string, operation: string, credential: AuthCredential | undefined): void {
    try {
      this.registry.refresh();
    } catch (cause) {
      throw new CredentialSynchronizationError(providerId, operation, credential, { cause });
    }
  }

  // Requests.

  stream(model: Model, context: Context, options?: ProviderStreamOptions): AssistantMessageEventStream {
    return this.registry.stream(model, context, options);
  }

  streamSimple(model: Model, context: Context, options?: SimpleStreamOptions): AssistantMessageEventStream {
    return this.registry.streamSimple(model, context, options);
  }

  async complete(model: Model, context: Context, options?: ProviderStreamOptions): Promise<AssistantMessage> {
    return await this.stream(model, context, options).result();
  }

  async completeSimple(model: Model, context: Context, options?: SimpleStreamOptions): Promise<AssistantMessage> {
    return await this.streamSimple(model, context, options).result();
  }

  #describeProvider(id: string): RuntimeProvider {
    const models = this.getModels(id);
    const name = this.registry.getProviderDisplayName(id);
    return { id, name, ...(models[0] && { baseUrl: models[0].baseUrl }), getModels: () => models };
  }
}

/** Callbacks as providers of extensions expect them. */
function toLoginCallbacks({ prompt, notify, signal }: AuthInteraction) {
  return {
    signal,
    onAuth: ({ url, instructions }: { url: string; instructions?: string }) =>
      notify({ type: "auth_url", url, ...(instructions !== undefined && { instructions }) }),
    onDeviceCode: (code: Record<string, unknown>) => notify({ type: "device_code", ...code }),
    onProgress: (message: string) => notify({ type: "progress", message }),
    onPrompt: ({ message, placeholder }: { message: string; placeholder?: string }) =>
      prompt({ type: "text", message, ...(placeholder !== undefined && { placeholder }) }),
    onManualCodeInput: () =>
      prompt({ type: "manual_code", message: "Paste the code, or the address that you were sent to" }),
    onSelect: async ({ message, options }: { message: string; options: readonly { id: string; label: string }[] }) =>
      await prompt({ type: "select", message, options }),
  };
}
