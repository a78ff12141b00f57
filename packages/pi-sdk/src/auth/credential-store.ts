/** Credentials that a program keeps itself, in pi's form since 1.0. */
import { type AuthCredential, AuthStorage } from "./auth-storage.ts";
import type { AuthStorageBackend } from "./backends.ts";

export interface CredentialStore {
  read(providerId: string): Promise<AuthCredential | undefined>;
  list(): Promise<readonly { providerId: string; type: AuthCredential["type"] }[]>;
  /** Undefined leaves the credential as it is. */
  modify(
    providerId: string,
    change: (current: AuthCredential | undefined) => Promise<AuthCredential | undefined>,
  ): Promise<AuthCredential | undefined>;
  delete(providerId: string): Promise<void>;
}

type Credentials = Readonly<Record<string, AuthCredential>>;

/** Reads all credentials, because those of a registry are looked up at once. Changes are written to the store. */
export async function openCredentialStore(store: CredentialStore | AuthStorage): Promise<AuthStorage> {
  if (store instanceof AuthStorage) return store;
  const credentials: Record<string, AuthCredential> = {};
  for (const { providerId } of await store.list()) {
    const credential = await store.read(providerId);
    if (credential) credentials[providerId] = credential;
  }
  return AuthStorage.fromStorage(new StoreBackend(store, credentials));
}

class StoreBackend implements AuthStorageBackend {
  readonly #store: CredentialStore;
  #text: string;
  /** Settles when all changes before it are written. Rejects with the error of the last one. */
  #written: Promise<void> = Promise.resolve();

  constructor(store: CredentialStore, credentials: Credentials) {
    this.#store = store;
    this.#text = JSON.stringify(credentials);
  }

  /** Returns before a change is written. The next asynchronous change rejects if that fails. */
  withLock<T>(change: (text: string) => { result: T; next?: string }): T {
    const { result, next } = change(this.#text);
    if (next !== undefined) this.#save(next).catch(() => undefined);
    return result;
  }

  async withLockAsync<T>(change: (text: string) => Promise<{ result: T; next?: string }>): Promise<T> {
    await this.#written;
    const { result, next } = await change(this.#text);
    if (next !== undefined) await this.#save(next);
    return result;
  }

  #save(next: string): Promise<void> {
    const [before, after] = [JSON.parse(this.#text), JSON.parse(next)] as [Credentials, Credentials];
    this.#text = next;
    this.#written = this.#written.catch(() => undefined).then(() => this.#write(before, after));
    return this.#written;
  }

  async #write(before: Credentials, after: Credentials): Promise<void> {
    for (const [providerId, credential] of Object.entries(after)) {
      if (JSON.stringify(before[providerId]) !== JSON.stringify(credential))
        await this.#store.modify(providerId, async () => credential);
    }
    for (const providerId of Object.keys(before)) if (!(providerId in after)) await this.#store.delete(providerId);
  }
}
