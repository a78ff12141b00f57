/** Renews access tokens before they expire, once for all callers and all processes. */
import type { Clock } from "@tau/ai";
import { untilAborted } from "@tau/ai/internal";
import { HarnessError } from "@tau/protocol";
import type { Env, GetApiKeyOptions } from "./auth-options.ts";
import type { AuthStore, Change } from "./auth-store.ts";
import type { OAuthCredential } from "./credential.ts";
import { type AuthFailure, type AuthNotice, failed } from "./failure.ts";
import { formatLoginCommand } from "./key-hint.ts";
import type { KeyValue } from "./key-value.ts";
import type { CredentialOutcome, CustomLogin } from "./custom-login.ts";
import type { OAuthProvider } from "./oauth-provider.ts";
import { isDue, readTokens, type TokenOutcome } from "./oauth-tokens.ts";
import { withStoredDomain } from "./provider-domain.ts";
import { type SecretStore, readCredential, withCredential } from "./stored-credential.ts";

interface TokenKeeperOptions {
  store: AuthStore;
  secretStore: SecretStore;
  clock: Clock;
  env: Env;
  getLogin: (id: string) => OAuthProvider | CustomLogin | undefined;
  notify: (notice: AuthNotice) => void;
}

/** A renewed credential that could not be stored. The server no longer accepts the stored one. */
interface Unsaved {
  /** The stored access token. */
  replaces: string;
  credential: OAuthCredential;
}

interface Renewed {
  value: KeyValue;
  /** Whether the file has this token after the change. */
  isStored: boolean;
}

export class TokenKeeper {
  readonly #options: TokenKeeperOptions;
  readonly #renewing = new Map<string, Promise<KeyValue>>();
  readonly #unsaved = new Map<string, Unsaved>();

  constructor(options: TokenKeeperOptions) {
    this.#options = options;
  }

  /**
   * A token that is valid now. `signal` ends the wait, not the renewal: the server may no longer accept the old tokens, so
   * the new ones have to be stored.
   */
  async fresh(
    id: string,
    stored: OAuthCredential,
    { signal, renewal = {} }: Pick<GetApiKeyOptions, "signal" | "renewal"> = {},
  ): Promise<KeyValue> {
    const { isOff = false, minLifetimeMs = 0 } = renewal;
    if (isOff) return await this.#unrenewed(id, stored);
    let renewing = this.#renewing.get(id);
    if (!renewing) {
      const isStored = this.#latest(id, stored) === stored;
      if (isStored && !this.#isDue(stored, minLifetimeMs)) return await this.#toKey(id, stored);
      renewing = this.#renew(id, minLifetimeMs).finally(() => this.#renewing.delete(id));
      this.#renewing.set(id, renewing);
    }
    const outcome = await untilAborted(renewing, signal);
    return outcome.kind === "aborted" ? failed("aborted", "The renewal of the token was cancelled.") : outcome.value;
  }

  async #unrenewed(id: string, stored: OAuthCredential): Promise<KeyValue> {
    if (this.#options.clock.now() < stored.expires) return await this.#toKey(id, stored);
    return failed("login_required", `The token for ${id} has expired, and was not renewed.`);
  }

  #isDue(credential: OAuthCredential, minLifetimeMs: number): boolean {
    const nowMs = this.#options.clock.now();
    return isDue(credential, nowMs) || credential.expires - nowMs < minLifetimeMs;
  }

  #latest(id: string, stored: OAuthCredential): OAuthCredential {
    const unsaved = this.#unsaved.get(id);
    return unsaved?.replaces === stored.access ? unsaved.credential : stored;
  }

  async #renew(id: string, minLifetimeMs: number): Promise<KeyValue> {
    const { store, notify } = this.#options;
    try {
      const { value, isStored } = await store.change((entries) => this.#change(id, entries, minLifetimeMs));
      if (isStored) this.#unsaved.delete(id);
      return value;
    } catch (error) {
      if (!(error instanceof HarnessError)) throw error;
      const unsaved = this.#unsaved.get(id);
      if (!unsaved) return failed("storage", `The token for ${id} could not be renewed. ${error.message}`);
      const message = `The new token for ${id} is used but could not be stored. ${error.message} Correct that, or log in again later.`;
      notify({ kind: "not_saved", message, path: store.name, key: id });
      return await this.#toKey(id, unsaved.credential);
    }
  }

  /** No other process changes the entries meanwhile, so no other process asks the server. */
  async #change(id: string, entries: ReadonlyMap<string, unknown>, minLifetimeMs: number): Promise<Change<Renewed>> {
    const { secretStore } = this.#options;
    const stored = await readCredential(entries, id, secretStore);
    if (stored.kind !== "credential" || stored.credential.type !== "oauth") {
      const login = this.#options.getLogin(id);
      const command = formatLoginCommand(id, login !== undefined && "renew" in login);
      const value = failed("login_required", `The login to ${id} was removed meanwhile. Log in again: ${command}`);
      return { result: { value, isStored: true } };
    }
    const replaces = stored.credential.access;
    let credential = this.#latest(id, stored.credential);
    if (this.#isDue(credential, minLifetimeMs)) {
      const outcome = await this.#ask(id, credential);
      if (outcome.kind === "failed") {
        const value = await this.#afterFailure(id, credential, outcome.failure);
        return { result: { value, isStored: credential === stored.credential } };
      }
      credential = outcome.credential;
    }
    const result: Renewed = { value: await this.#toKey(id, credential), isStored: true };
    if (credential === stored.credential) return { result };
    this.#unsaved.set(id, { replaces, credential });
    return { result, entries: await withCredential(entries, { provider: id, credential, secretStore }) };
  }

  async #ask(id: string, credential: OAuthCredential): Promise<CredentialOutcome> {
    const { clock, env, getLogin } = this.#options;
    const provider = getLogin(id);
    const { refresh: refresh_token } = credential;
    if (!provider) {
      const advice = `Load the extension that it is from, or remove it: tau auth logout ${id}`;
      return failed(
        "unsupported",
        `The login to ${id} cannot be renewed: nothing here has a login for ${id}. ${advice}`,
      );
    }
    if ("renew" in provider) {
      const { renewCustom } = await import("./custom-login.ts");
      return await renewCustom(provider, credential, clock);
    }
    if (refresh_token === "") {
      return failed("login_required", `The login to ${provider.name} has expired. Log in again: tau auth login ${id}`);
    }
    const { tokenUrl: url, clientId: client_id, format = "form" } = provider;
    if (provider.exchange) {
      const { exchangeToken } = await import("./token-exchange.ts");
      const { exchange } = withStoredDomain(provider, credential["domain"]);
      const request = { provider, exchange: exchange!, token: refresh_token, stored: credential };
      return toCredential(credential, await exchangeToken(request, { clock, env }));
    }
    const { post } = await import("./oauth-post.ts");
    const answer = await post(
      { url, format, fields: { grant_type: "refresh_token", refresh_token, client_id } },
      { clock, env },
    );
    if (answer.kind === "failed") return answer;
    return toCredential(credential, readTokens(answer, { provider, nowMs: clock.now(), refresh: refresh_token }));
  }

  /** Returns the key that is sent with requests. */
  async #toKey(id: string, credential: OAuthCredential): Promise<KeyValue> {
    const login = this.#options.getLogin(id);
    if (!login || !("getKey" in login)) return { kind: "value", value: credential.access };
    const { getCustomKey } = await import("./custom-login.ts");
    return await getCustomKey(login, credential, this.#options.clock);
  }

  /** The stored token stays. It is used until it expires, since the failure may be over by then. */
  async #afterFailure(id: string, credential: OAuthCredential, failure: AuthFailure): Promise<KeyValue> {
    if (this.#options.clock.now() >= credential.expires) return { kind: "failed", failure };
    const message = `The token for ${id} expires soon and could not be renewed. ${failure.message}`;
    this.#options.notify({ kind: "refresh_failed", message, path: this.#options.store.name, key: id });
    return await this.#toKey(id, credential);
  }
}

const toCredential = (stored: OAuthCredential, outcome: TokenOutcome): CredentialOutcome =>
  outcome.kind === "failed" ? outcome : { kind: "credential", credential: { ...stored, ...outcome.tokens } };
