/** Credentials of the providers in a collection of models. */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { SerialQueue } from "@tau/ai/internal";

interface ApiKeyCredential {
  type: "api_key";
  key?: string;
  env?: Record<string, string>;
}

interface OAuthCredential {
  type: "oauth";
  access: string;
  refresh: string;
  /** Milliseconds since the epoch. */
  expires: number;
  [key: string]: unknown;
}

export type Credential = ApiKeyCredential | OAuthCredential;

export interface AuthContext {
  env(name: string): Promise<string | undefined>;
  /** A leading `~` is the home directory. */
  fileExists(path: string): Promise<boolean>;
}

export interface AuthResult {
  auth: { apiKey?: string; headers?: Record<string, string | null>; baseUrl?: string };
  env?: Record<string, string>;
  /** Where it comes from, for a person. */
  source?: string;
}

interface Interaction {
  prompt(prompt: { type: "secret"; message: string }): Promise<string>;
}

interface ApiKeyAuth {
  name: string;
  login?(interaction: Interaction): Promise<ApiKeyCredential>;
  resolve(input: { ctx: AuthContext; credential?: ApiKeyCredential }): Promise<AuthResult | undefined>;
}

interface OAuthAuth {
  name: string;
  isSubscription?: boolean;
  loginLabel?: string;
  login(interaction: unknown): Promise<OAuthCredential>;
  refresh(credential: OAuthCredential, signal?: AbortSignal): Promise<OAuthCredential>;
  toAuth(credential: OAuthCredential): Promise<AuthResult["auth"]>;
}

export interface ProviderAuth {
  apiKey?: ApiKeyAuth;
  oauth?: OAuthAuth;
}

export function defaultProviderAuthContext(): AuthContext {
  return {
    env: async (name) => process.env[name] || undefined,
    fileExists: async (path) => existsSync(path.startsWith("~") ? join(homedir(), path.slice(1)) : path),
  };
}

/** A key that was stored, else the first variable that is set. */
export function envApiKeyAuth(name: string, variables: readonly string[]): ApiKeyAuth {
  return {
    name,
    async login(interaction) {
      return { type: "api_key", key: await interaction.prompt({ type: "secret", message: `${name} API key` }) };
    },
    async resolve({ ctx, credential }) {
      if (credential?.key) return { auth: { apiKey: credential.key }, source: "stored credential" };
      for (const variable of variables) {
        const apiKey = await ctx.env(variable);
        if (apiKey) return { auth: { apiKey }, source: variable };
      }
      return undefined;
    },
  };
}

/** Loads the implementation with the first call. */
export function lazyOAuth({
  load,
  ...description
}: Pick<OAuthAuth, "name" | "isSubscription" | "loginLabel"> & { load(): Promise<OAuthAuth> }): OAuthAuth {
  return {
    ...description,
    login: async (interaction) => (await load()).login(interaction),
    refresh: async (credential, signal) => (await load()).refresh(credential, signal),
    toAuth: async (credential) => (await load()).toAuth(credential),
  };
}

export interface CredentialStore {
  read(providerId: string): Promise<Credential | undefined>;
  list(): Promise<readonly { providerId: string; type: Credential["type"] }[]>;
  /** Changes of one provider wait for each other. Undefined leaves the credential as it is. */
  modify(
    providerId: string,
    change: (current: Credential | undefined) => Promise<Credential | undefined>,
  ): Promise<Credential | undefined>;
  delete(providerId: string): Promise<void>;
}

export class InMemoryCredentialStore implements CredentialStore {
  readonly #credentials = new Map<string, Credential>();
  readonly #queue = new SerialQueue();

  async read(providerId: string): Promise<Credential | undefined> {
    return this.#credentials.get(providerId);
  }

  async list(): Promise<readonly { providerId: string; type: Credential["type"] }[]> {
    return [...this.#credentials].map(([providerId, { type }]) => ({ providerId, type }));
  }

  modify: CredentialStore["modify"] = (providerId, change) =>
    this.#queue.add(async () => {
      const next = await change(this.#credentials.get(providerId));
      if (next) this.#credentials.set(providerId, next);
      return this.#credentials.get(providerId);
    });

  async delete(providerId: string): Promise<void> {
    await this.#queue.add(async () => void this.#credentials.delete(providerId));
  }
}

/** Lists of models that were fetched, by provider. */
export class InMemoryModelsStore {
  readonly #entries = new Map<string, unknown>();

  async read(providerId: string): Promise<unknown> {
    return this.#entries.get(providerId);
  }

  async write(providerId: string, entry: unknown): Promise<void> {
    this.#entries.set(providerId, entry);
  }

  async delete(providerId: string): Promise<void> {
    this.#entries.delete(providerId);
  }
}
