/** pi's `AuthStorage`: keys and tokens by provider, read and written at once. */
import { getEnvApiKey } from "@tau/ai";
import { isRecord } from "@tau/ai/internal";
import { getOAuthProvider, getOAuthProviders, type OAuthProvider, toError } from "@tau/pi/internal";
import { type AuthStorageBackend, FileAuthStorageBackend, InMemoryAuthStorageBackend } from "./backends.ts";
import { resolveConfigValue } from "./config-value.ts";

export type AuthCredential =
  | { type: "api_key"; key: string }
  | { type: "oauth"; access: string; refresh: string; expires: number; [key: string]: unknown };

type AuthStorageData = Record<string, AuthCredential>;

type OAuthCredential = Extract<AuthCredential, { type: "oauth" }>;

export class AuthStorage {
  readonly #backend: AuthStorageBackend;
  #data: AuthStorageData = {};
  /** A file that cannot be read is not written either. */
  #isDamaged = false;
  #errors: Error[] = [];
  readonly #runtimeKeys = new Map<string, string>();
  #fallback: ((provider: string) => string | undefined) | undefined;

  private constructor(backend: AuthStorageBackend) {
    this.#backend = backend;
    this.reload();
  }

  static create(path?: string): AuthStorage {
    return new AuthStorage(new FileAuthStorageBackend(path));
  }

  static fromStorage(backend: AuthStorageBackend): AuthStorage {
    return new AuthStorage(backend);
  }

  static inMemory(data: AuthStorageData = {}): AuthStorage {
    const backend = new InMemoryAuthStorageBackend();
    backend.withLock(() => ({ result: undefined, next: JSON.stringify(data) }));
    return new AuthStorage(backend);
  }

  /** Counts before all others, in this process only. */
  setRuntimeApiKey(provider: string, apiKey: string): void {
    this.#runtimeKeys.set(provider, apiKey);
  }

  removeRuntimeApiKey(provider: string): void {
    this.#runtimeKeys.delete(provider);
  }

  hasRuntimeApiKey(provider: string): boolean {
    return this.#runtimeKeys.has(provider);
  }

  /** Asked when there is no other key. */
  setFallbackResolver(resolve: (provider: string) => string | undefined): void {
    this.#fallback = resolve;
  }

  reload(): void {
    try {
      this.#data = this.#backend.withLock((text) => ({ result: parse(text) }));
      this.#isDamaged = false;
    } catch (error) {
      this.#isDamaged = true;
      this.#errors.push(toError(error));
    }
  }

  get(provider: string): AuthCredential | undefined {
    return this.#data[provider];
  }

  getAll(): AuthStorageData {
    return { ...this.#data };
  }

  list(): string[] {
    return Object.keys(this.#data);
  }

  has(provider: string): boolean {
    return Object.hasOwn(this.#data, provider);
  }

  set(provider: string, credential: AuthCredential): void {
    this.#change(provider, credential);
  }

  remove(provider: string): void {
    this.#change(provider, undefined);
  }

  /** Rejects if it cannot be stored. If `change` gives undefined, the credential stays as it is. */
  async modify(
    provider: string,
    change: (current: AuthCredential | undefined) => Promise<AuthCredential | undefined>,
  ): Promise<AuthCredential | undefined> {
    return await this.#replace(async (data) => {
      const credential = await change(data[provider]);
      return { result: credential ?? data[provider], next: credential && { ...data, [provider]: credential } };
    });
  }

  async delete(provider: string): Promise<void> {
    await this.#replace(async ({ [provider]: _previous, ...others }) => ({ result: undefined, next: others }));
  }

  async #replace<T>(
    change: (data: AuthStorageData) => Promise<{ result: T; next: AuthStorageData | undefined }>,
  ): Promise<T> {
    return await this.#backend.withLockAsync(async (text) => {
      const data = parse(text);
      const { result, next } = await change(data);
      this.#data = next ?? data;
      return { result, ...(next && { next: format(next) }) };
    });
  }

  logout(provider: string): void {
    this.remove(provider);
  }

  /** Whether there is a key of any kind. Renews no token. */
  hasAuth(provider: string): boolean {
    return (
      this.#runtimeKeys.has(provider) ||
      this.has(provider) ||
      getEnvApiKey(provider) !== undefined ||
      Boolean(this.#fallback?.(provider))
    );
  }

  async login(providerId: string, callbacks: unknown): Promise<void> {
    const provider = getOAuthProvider(providerId);
    if (!provider?.login) {
      throw new Error(`There is no login for ${providerId} here. Use /login, or \`tau auth login ${providerId}\`.`);
    }
    this.set(providerId, { ...(await provider.login(callbacks)), type: "oauth" } as OAuthCredential);
  }

  /** If the user has logged in and the token cannot be renewed, undefined: other keys may be billed to someone else. */
  async getApiKey(providerId: string): Promise<string | undefined> {
    const runtimeKey = this.#runtimeKeys.get(providerId);
    if (runtimeKey !== undefined) return runtimeKey;
    const credential = this.#data[providerId];
    if (credential?.type === "api_key") return resolveConfigValue(credential.key);
    if (credential?.type === "oauth") return await this.#getToken(providerId, credential);
    return getEnvApiKey(providerId) ?? this.#fallback?.(providerId);
  }

  getOAuthProviders(): OAuthProvider[] {
    return getOAuthProviders();
  }

  /** The problems since the last call. */
  drainErrors(): Error[] {
    return this.#errors.splice(0);
  }

  async #getToken(providerId: string, credential: OAuthCredential): Promise<string | undefined> {
    const provider = getOAuthProvider(providerId);
    const isValid = credential.expires > Date.now();
    if (!provider?.refreshToken) return isValid ? credential.access : this.#readRenewedToken(providerId);
    const current = isValid ? credential : await this.#refresh(providerId, provider);
    return current && (provider.getApiKey?.(current) ?? current.access);
  }

  /** tau renews the logins of its own providers, and writes them to the same file. */
  #readRenewedToken(providerId: string): string | undefined {
    this.reload();
    const stored = this.#data[providerId];
    return stored?.type === "oauth" && stored.expires > Date.now() ? stored.access : undefined;
  }

  /** Renews a login, one caller after the other: those that waited find the new token. */
  async #refresh(providerId: string, provider: OAuthProvider): Promise<OAuthCredential | undefined> {
    try {
      return await this.#backend.withLockAsync(async (text) => {
        const data = parse(text);
        const stored = data[providerId];
        this.#data = data;
        if (stored?.type !== "oauth") return { result: undefined };
        if (stored.expires > Date.now()) return { result: stored };
        const renewed = {
          ...(await provider.refreshToken!(stored, new AbortController().signal)),
          type: "oauth",
        } as OAuthCredential;
        this.#data = { ...this.#data, [providerId]: renewed };
        return { result: renewed, next: format({ ...data, [providerId]: renewed }) };
      });
    } catch (error) {
      this.#errors.push(toError(error));
      this.reload();
      const stored = this.#data[providerId];
      return stored?.type === "oauth" && stored.expires > Date.now() ? stored : undefined;
    }
  }

  /** Keeps what others wrote to the file meanwhile. */
  #change(provider: string, credential: AuthCredential | undefined): void {
    const apply = ({ [provider]: _previous, ...others }: AuthStorageData): AuthStorageData =>
      credential ? { ...others, [provider]: credential } : others;
    this.#data = apply(this.#data);
    if (this.#isDamaged) return;
    try {
      this.#backend.withLock((text) => ({ result: undefined, next: format(apply(parse(text))) }));
    } catch (error) {
      this.#errors.push(toError(error));
    }
  }
}

function parse(text: string | undefined): AuthStorageData {
  if (text === undefined || text.trim() === "") return {};
  const data: unknown = JSON.parse(text);
  if (!isRecord(data)) throw new SyntaxError("The file of credentials is not a JSON object.");
  return data as AuthStorageData;
}

const format = (data: AuthStorageData): string => `${JSON.stringify(data, undefined, 2)}\n`;

/** The credential of a provider as it is in the file; undefined if there is none. */
export const readStoredCredential = (provider: string, path?: string): AuthCredential | undefined =>
  AuthStorage.create(path).get(provider);
