/** Signs in to a server with an address: the person opens the login in a browser, which is redirected to this machine. */
import {
  auth as authorize,
  type AuthorizationServerMetadata,
  exchangeAuthorization,
  extractWWWAuthenticateParams,
  type FetchLike,
  type OAuthClientMetadata,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  OAuthError,
  type StoredOAuthClientInformation,
} from "@modelcontextprotocol/client";
import type { Clock } from "@tau/ai";
import { type Fetch, getErrorMessage, isRecord } from "@tau/ai/internal";
import type { AuthStorage, LoginInteraction } from "@tau/config/auth";
import { browserLogin } from "@tau/config/internal";
import { HarnessError } from "@tau/protocol";
import type { HttpTarget, McpEntry, McpOAuth } from "./entry.ts";
import type { McpFailure } from "./failure.ts";
import { createGuardedFetch, getRedirect, isAllowedAddress, RefusedAddressError } from "./oauth-address.ts";
import { Secrets } from "./oauth-secrets.ts";
import { type McpLogin, writeLogin } from "./oauth-store.ts";
import { toVisibleLine } from "../kit/visible-text.ts";

export interface SignInInteraction extends LoginInteraction {
  /** Shows where the person signs in, before the address. False cancels. Absent: nobody can be asked, and it is printed. */
  confirm?(title: string, lines: readonly string[]): Promise<boolean>;
}

interface SignInRequest {
  entry: McpEntry;
  /** With its values filled in. */
  target: HttpTarget;
  auth: AuthStorage;
  interaction: SignInInteraction;
  clock: Clock;
  fetch: Fetch;
  signal?: AbortSignal | undefined;
}

export type SignInOutcome = { kind: "done" } | { kind: "failed"; failure: McpFailure };

/** The stored login changes only if the outcome is `done`. */
export async function signIn(request: SignInRequest): Promise<SignInOutcome> {
  const { entry, target, auth, interaction, clock, fetch, signal } = request;
  const { name } = entry;
  const options = target.oauth || {};
  if (target.oauth === false) return fail(name, 'signing in is turned off in its entry ("oauth": false).');
  const redirect = getRedirect(options);
  if (typeof redirect === "string") return fail(name, `"oauth" in its entry is not valid. ${redirect}`);
  const registration = getMetadataUrl(options);
  if (registration.kind === "wrong") return fail(name, `"oauth" in its entry is not valid. ${registration.message}`);

  const { state } = await browserLogin.createAttempt();
  const server = new URL(target.url);
  const fetchFn = createGuardedFetch(fetch, server, signal);
  const attempt = new SignInAttempt({ options, state, server, clientMetadataUrl: registration.url });
  try {
    const challenge = await probe(target, fetchFn);
    const scope = options.scope ?? challenge.scope;
    const common = {
      serverUrl: target.url,
      fetchFn,
      ...(scope !== undefined && { scope }),
      ...(challenge.resourceMetadataUrl && { resourceMetadataUrl: challenge.resourceMetadataUrl }),
    };
    const received = await browserLogin.receiveCode(
      {
        name,
        state,
        redirect,
        needsState: true,
        interaction,
        getAuthorizeUrl: async (redirectUrl) => {
          attempt.redirectUrl = redirectUrl;
          if (options.authServerMetadataUrl !== undefined)
            attempt.saveDiscoveryState(await fetchDiscovery(options.authServerMetadataUrl, fetchFn));
          await authorize(attempt, common);
          const url = attempt.authorizationUrl;
          const isConfirmed = await confirm(interaction, { name, server, url, attempt });
          const failure = { kind: "aborted" as const, message: "The login was cancelled." };
          return isConfirmed ? url.href : { kind: "failed", failure };
        },
      },
      { clock, ...(signal && { signal }) },
    );
    if (received.kind === "failed") {
      const kind = received.failure.kind === "aborted" ? "aborted" : "login_required";
      return { kind: "failed", failure: { kind, message: `${name}: ${received.failure.message}` } };
    }
    const login = await attempt.exchange(received, fetchFn);
    await writeLogin(auth, { entry, target, nowMs: clock.now() }, login);
    return { kind: "done" };
  } catch (error) {
    if (signal?.aborted) return { kind: "failed", failure: { kind: "aborted", message: "The login was cancelled." } };
    return fail(name, describeError(error, attempt.secrets));
  }
}

const fail = (name: string, reason: string): SignInOutcome => ({
  kind: "failed",
  failure: { kind: "login_required", message: `You are not signed in to the MCP server ${name}: ${reason}` },
});

function describeError(error: unknown, secrets: Secrets): string {
  if (error instanceof RefusedAddressError || error instanceof HarnessError) return error.message;
  const prefix = error instanceof OAuthError ? `its authorization server answered ${error.code}: ` : "";
  return `${prefix}${toVisibleLine(secrets.hide(getErrorMessage(error)), 300)}`;
}

/** `dynamic`, or the address of a document that describes this client (a client id metadata document). */
function getMetadataUrl({
  clientRegistration = "dynamic",
}: McpOAuth): { kind: "found"; url: string | undefined } | { kind: "wrong"; message: string } {
  if (clientRegistration === "dynamic") return { kind: "found", url: undefined };
  if (URL.canParse(clientRegistration) && new URL(clientRegistration).protocol === "https:")
    return { kind: "found", url: clientRegistration };
  return { kind: "wrong", message: '"clientRegistration" is "dynamic" or the https address of a client document.' };
}

/** Asks the server without a token: its refusal may say where its metadata is, and which scope is needed. */
async function probe({ url }: HttpTarget, fetchFn: FetchLike) {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const response = await fetchFn(url, { method: "POST", headers, body });
  await response.body?.cancel();
  return response.status === 401 ? extractWWWAuthenticateParams(response) : {};
}

async function fetchDiscovery(url: string, fetchFn: FetchLike): Promise<OAuthDiscoveryState> {
  const response = await fetchFn(url, { headers: { accept: "application/json" } });
  const metadata: unknown = response.ok ? await response.json() : undefined;
  const fields = ["issuer", "authorization_endpoint", "token_endpoint"];
  if (!isRecord(metadata) || fields.some((field) => typeof metadata[field] !== "string"))
    throw new HarnessError("invalid_input", `"authServerMetadataUrl" does not lead to the metadata of a server.`);
  return {
    authorizationServerUrl: metadata["issuer"] as string,
    authorizationServerMetadata: metadata as unknown as AuthorizationServerMetadata,
  };
}

async function confirm(
  interaction: SignInInteraction,
  { name, server, url, attempt }: { name: string; server: URL; url: URL; attempt: SignInAttempt },
): Promise<boolean> {
  const tokenHost = attempt.tokenHost ?? url.host;
  const lines = [
    `You sign in at: ${url.host}`,
    ...(tokenHost === url.host ? [] : [`The login is exchanged at: ${tokenHost}`]),
    `It is for the server: ${server.host}`,
  ];
  const title = `Sign in to the MCP server ${name}?`;
  if (interaction.confirm) return await interaction.confirm(title, lines);
  interaction.notify({ type: "message", text: [`Signing in to the MCP server ${name}.`, ...lines].join("\n") });
  return true;
}

/** Carries out a login. Nothing of it is stored before it is complete. */
class SignInAttempt implements OAuthClientProvider {
  readonly secrets = new Secrets();
  readonly clientMetadataUrl?: string;
  readonly saveClientInformation?: (client: StoredOAuthClientInformation) => void;
  redirectUrl = "";
  readonly #options: McpOAuth;
  readonly #state: string;
  readonly #server: URL;
  #client: StoredOAuthClientInformation | undefined;
  #verifier = "";
  #discovery: OAuthDiscoveryState | undefined;
  #authorizationUrl: URL | undefined;

  constructor({
    options,
    state,
    server,
    clientMetadataUrl,
  }: {
    options: McpOAuth;
    state: string;
    server: URL;
    clientMetadataUrl: string | undefined;
  }) {
    this.#options = options;
    this.#state = state;
    this.#server = server;
    const { clientId, clientSecret } = options;
    if (clientMetadataUrl !== undefined) this.clientMetadataUrl = clientMetadataUrl;
    this.secrets.add(state, clientSecret);
    if (clientId !== undefined) {
      this.#client = { client_id: clientId, ...(clientSecret !== undefined && { client_secret: clientSecret }) };
    } else {
      this.saveClientInformation = (client) => {
        this.#client = client;
        this.secrets.addLogin(undefined, client);
      };
    }
  }

  get clientMetadata(): OAuthClientMetadata {
    const { clientName = "tau", scope } = this.#options;
    return {
      client_name: clientName,
      redirect_uris: [this.redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
      ...(scope !== undefined && { scope }),
    };
  }

  /** The address that the person opens. */
  get authorizationUrl(): URL {
    if (!this.#authorizationUrl) throw new Error("The server began no login.");
    return this.#authorizationUrl;
  }

  get tokenHost(): string | undefined {
    const endpoint = this.#discovery?.authorizationServerMetadata?.token_endpoint;
    return endpoint === undefined ? undefined : new URL(endpoint).host;
  }

  /** Exchanges the code for tokens. */
  async exchange(
    { code, issuer }: { code: string; issuer: string | undefined },
    fetchFn: FetchLike,
  ): Promise<McpLogin> {
    const client = this.#client;
    const discovery = this.#discovery;
    if (!client || !discovery) throw new Error("The server began no login.");
    const { authorizationServerUrl, authorizationServerMetadata: metadata, resourceMetadata } = discovery;
    const tokens = await exchangeAuthorization(authorizationServerUrl, {
      clientInformation: client,
      authorizationCode: code,
      codeVerifier: this.#verifier,
      redirectUri: this.redirectUrl,
      fetchFn,
      ...(metadata && { metadata }),
      ...(issuer !== undefined && { iss: issuer }),
      ...(resourceMetadata && { resource: resourceMetadata.resource }),
    });
    return { tokens, client, discovery };
  }

  state(): string {
    return this.#state;
  }

  clientInformation(): StoredOAuthClientInformation | undefined {
    return this.#client;
  }

  /** A login begins without tokens: those that are stored are replaced. */
  tokens(): undefined {}

  saveTokens(): void {
    throw new Error("Tokens are exchanged by `exchange`.");
  }

  redirectToAuthorization(url: URL): void {
    if (!isAllowedAddress(url, this.#server)) throw new RefusedAddressError(url);
    this.#authorizationUrl = url;
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
    this.secrets.add(verifier);
  }

  codeVerifier(): string {
    return this.#verifier;
  }

  saveDiscoveryState(state: OAuthDiscoveryState): void {
    this.#discovery = state;
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#discovery;
  }
}
