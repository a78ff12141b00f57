/** A collection of providers with their models, which finds the credential of each request. */
import type { Context, Model, SimpleStreamOptions } from "@tau/ai";
import { toContext } from "./transcript.ts";
import {
  type AuthContext,
  type AuthResult,
  type Credential,
  type CredentialStore,
  defaultProviderAuthContext,
  InMemoryCredentialStore,
} from "./auth.ts";
import { type ClientIdentity, getIdentityHeaders } from "./identity.ts";
import { lazyStream, type ProviderStreams } from "./lazy.ts";
import { ModelsError } from "./models-error.ts";
import type { Provider } from "./provider.ts";

export interface ModelsOptions {
  credentials?: CredentialStore;
  authContext?: AuthContext;
}

export class Models {
  readonly #providers = new Map<string, Provider>();
  readonly #credentials: CredentialStore;
  readonly #authContext: AuthContext;

  constructor({
    credentials = new InMemoryCredentialStore(),
    authContext = defaultProviderAuthContext(),
  }: ModelsOptions) {
    this.#credentials = credentials;
    this.#authContext = authContext;
  }

  setProvider(provider: Provider): void {
    this.#providers.set(provider.id, provider);
  }

  deleteProvider(id: string): void {
    this.#providers.delete(id);
  }

  clearProviders(): void {
    this.#providers.clear();
  }

  getProviders(): readonly Provider[] {
    return [...this.#providers.values()];
  }

  getProvider(id: string): Provider | undefined {
    return this.#providers.get(id);
  }

  getModels(providerId?: string): readonly Model[] {
    const providers = this.getProviders().filter(({ id }) => providerId === undefined || id === providerId);
    return providers.flatMap((provider) => provider.getModels());
  }

  getAllModels(providerId?: string): readonly Model[] {
    return this.getModels(providerId);
  }

  getModelsOfType(type: string, providerId?: string): readonly Model[] {
    return type === "chat" ? this.getModels(providerId) : [];
  }

  getModel(providerId: string, id: string): Model | undefined {
    return this.getModels(providerId).find((model) => model.id === id);
  }

  getModelOfType(type: string, providerId: string, id: string): Model | undefined {
    return this.getModelsOfType(type, providerId).find((model) => model.id === id);
  }

  /** Undefined if the provider is unknown or has no credential. */
  async getAuth(target: string | Model): Promise<AuthResult | undefined> {
    const provider = this.#providers.get(typeof target === "string" ? target : target.provider);
    if (!provider) return undefined;
    const credential = await this.#credentials.read(provider.id);
    if (credential?.type === "oauth" && provider.auth.oauth) {
      const current = await this.#refresh(provider, credential);
      return current && { auth: await provider.auth.oauth.toAuth(current), source: "OAuth" };
    }
    return await provider.auth.apiKey?.resolve({
      ctx: this.#authContext,
      ...(credential?.type === "api_key" && { credential }),
    });
  }

  async checkAuth(providerId: string): Promise<{ source?: string; type: Credential["type"] } | undefined> {
    const credential = await this.#credentials.read(providerId);
    if (credential?.type === "oauth") return { source: "OAuth", type: "oauth" };
    const auth = await this.getAuth(providerId);
    return auth && { ...(auth.source !== undefined && { source: auth.source }), type: "api_key" };
  }

  async getAvailable(providerId?: string): Promise<readonly Model[]> {
    const ids = providerId === undefined ? [...this.#providers.keys()] : [providerId];
    const checks = await Promise.all(ids.map(async (id) => ((await this.checkAuth(id)) ? this.getModels(id) : [])));
    return checks.flat();
  }

  async refresh(): Promise<{ aborted: boolean; errors: ReadonlyMap<string, Error> }> {
    const errors = new Map<string, Error>();
    for (const provider of this.getProviders()) {
      await provider
        .refreshModels?.({ allowNetwork: true, signal: new AbortController().signal })
        .catch((error: unknown) => errors.set(provider.id, error instanceof Error ? error : new Error(String(error))));
    }
    return { aborted: false, errors };
  }

  async login(providerId: string, type: Credential["type"], interaction: unknown): Promise<Credential> {
    const auth = this.#providers.get(providerId)?.auth;
    const method = type === "oauth" ? auth?.oauth : auth?.apiKey;
    if (!method?.login) throw new ModelsError("auth", `The provider ${providerId} has no login of the type ${type}.`);
    const credential = await method.login(interaction as never);
    await this.#credentials.modify(providerId, async () => credential);
    return credential;
  }

  async logout(providerId: string): Promise<void> {
    await this.#credentials.delete(providerId);
  }

  stream: ProviderStreams["stream"] = (...request) => this.#send("stream", ...request);
  streamSimple: ProviderStreams["streamSimple"] = (...request) => this.#send("streamSimple", ...request);
  complete = (...request: Parameters<ProviderStreams["stream"]>) => this.stream(...request).result();
  completeSimple = (...request: Parameters<ProviderStreams["stream"]>) => this.streamSimple(...request).result();

  #send(method: keyof ProviderStreams, model: Model, context: Context, options: SimpleStreamOptions = {}) {
    return lazyStream(model, async () => {
      const provider = this.#providers.get(model.provider);
      if (!provider) throw new ModelsError("provider", `The provider ${model.provider} is not in this collection.`);
      const resolved = options.apiKey === undefined ? await this.getAuth(model) : undefined;
      const { apiKey, baseUrl, ...auth } = resolved?.auth ?? {};
      const { identity } = options as { identity?: ClientIdentity };
      const headers = { ...(identity && getIdentityHeaders(model, identity)), ...auth.headers };
      return provider[method](baseUrl === undefined ? model : { ...model, baseUrl }, toContext(context), {
        ...options,
        ...(apiKey !== undefined && { apiKey }),
        ...(Object.keys(headers).length > 0 && { headers: { ...headers, ...options.headers } }),
      });
    });
  }

  async #refresh(provider: Provider, credential: Credential & { type: "oauth" }) {
    if (credential.expires > Date.now()) return credential;
    const refreshed = await this.#credentials.modify(provider.id, async (current) =>
      current?.type === "oauth" && current.expires <= Date.now() ? provider.auth.oauth!.refresh(current) : undefined,
    );
    return refreshed?.type === "oauth" ? refreshed : undefined;
  }
}

export const createModels = (options: ModelsOptions = {}): Models => new Models(options);
