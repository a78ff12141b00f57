/** The stored login of a server in a session. It is renewed when the server refuses it, and a login is never begun here. */
import {
  type OAuthClientInformationMixed,
  type OAuthDiscoveryState,
  OAuthError,
  OAuthErrorCode,
  refreshAuthorization,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import type { Clock } from "@tau/ai";
import type { Fetch } from "@tau/ai/internal";
import type { AuthStorage } from "@tau/config/auth";
import type { HttpTarget, McpEntry } from "./entry.ts";
import { createGuardedFetch } from "./oauth-address.ts";
import { Secrets } from "./oauth-secrets.ts";
import { changeLogin, type McpLogin, readLogin } from "./oauth-store.ts";
import type { McpAuthProvider } from "./ports.ts";

interface StoredLoginParts {
  auth: AuthStorage;
  entry: McpEntry;
  target: HttpTarget;
  clock: Clock;
  fetch: Fetch;
}

/** Undefined if nobody has signed in: the server's refusal then says so. */
export async function openStoredLogin(parts: StoredLoginParts): Promise<McpAuthProvider | undefined> {
  const { auth, entry, target } = parts;
  if (target.oauth === false) return undefined;
  const login = await readLogin(auth, entry, target);
  return login && new StoredLogin(parts);
}

/** Answers of an authorization server after which only a new login helps. */
const finalErrors: readonly string[] = [
  OAuthErrorCode.InvalidGrant,
  OAuthErrorCode.InvalidClient,
  OAuthErrorCode.UnauthorizedClient,
];

class StoredLogin implements McpAuthProvider {
  readonly #parts: StoredLoginParts;
  readonly #secrets = new Secrets();
  /** The access token of the last request. */
  #used: string | undefined;
  #renewing: Promise<void> | undefined;

  constructor(parts: StoredLoginParts) {
    this.#parts = parts;
  }

  hide(text: string): string {
    return this.#secrets.hide(text);
  }

  async token(): Promise<string | undefined> {
    this.#used = (await this.#read())?.tokens.access_token;
    return this.#used;
  }

  /** Requests that are refused at the same time share one renewal. */
  async onUnauthorized(): Promise<void> {
    this.#renewing ??= this.#renew().finally(() => (this.#renewing = undefined));
    await this.#renewing;
  }

  /** Read each time: another session may have renewed or removed it. */
  async #read(): Promise<McpLogin | undefined> {
    const { auth, entry, target } = this.#parts;
    const login = await readLogin(auth, entry, target);
    if (login) this.#remember(login.tokens, login.client);
    return login;
  }

  /** While the login is renewed no other program does, since most refresh tokens are valid once. */
  async #renew(): Promise<void> {
    const { auth, entry, target, clock } = this.#parts;
    let isRefused = false;
    await changeLogin(auth, { entry, target, nowMs: clock.now() }, async (login) => {
      isRefused = true;
      if (!login) return undefined;
      this.#remember(login.tokens, login.client);
      // Another session has renewed it: the request is sent again with the new token.
      if (login.tokens.access_token !== this.#used) isRefused = false;
      if (!isRefused || login.tokens.refresh_token === undefined || !login.discovery) return undefined;
      try {
        const tokens = await this.#askForTokens(login, login.discovery, login.tokens.refresh_token);
        isRefused = false;
        return { ...login, tokens };
      } catch (error) {
        if (error instanceof OAuthError && finalErrors.includes(error.code)) return "remove";
        throw error;
      }
    });
    if (isRefused) throw new UnauthorizedError();
  }

  async #askForTokens(
    { tokens, client }: McpLogin,
    { authorizationServerUrl, authorizationServerMetadata: metadata, resourceMetadata }: OAuthDiscoveryState,
    refreshToken: string,
  ): Promise<McpLogin["tokens"]> {
    const renewed = await refreshAuthorization(authorizationServerUrl, {
      clientInformation: client,
      refreshToken,
      fetchFn: createGuardedFetch(this.#parts.fetch, new URL(this.#parts.target.url)),
      ...(metadata && { metadata }),
      ...(resourceMetadata && { resource: resourceMetadata.resource }),
    });
    this.#remember(renewed, client);
    return { ...tokens, ...renewed };
  }

  #remember(tokens: McpLogin["tokens"], client: OAuthClientInformationMixed): void {
    this.#secrets.addLogin(tokens, client);
  }
}
