/** A server of MCP that wants a login, with its authorization server: metadata, registration, PKCE, tokens, renewal. */
import { createHash, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** Changes what the server does. */
export interface OAuthServerBehaviour {
  resourceMetadata?: Record<string, unknown>;
  serverMetadata?: Record<string, unknown>;
  /** Refuses renewals. */
  refusesRenewal?: boolean;
  /** Answers requests with an error that repeats the token. */
  repeatsToken?: boolean;
  /** Redirects the request for tokens to this address. */
  redirectsTokenTo?: string;
}

export class OAuthServer {
  behaviour: OAuthServerBehaviour = {};
  /** Method and path of each request. */
  readonly requests: string[] = [];
  readonly registrations: Record<string, unknown>[] = [];
  readonly tokenRequests: Record<string, string>[] = [];
  readonly accessTokens = new Set<string>();
  readonly refreshTokens = new Set<string>();
  /** All that must never be shown. */
  readonly secrets: string[] = [];
  readonly #codes = new Map<string, { challenge: string; redirectUri: string; clientId: string }>();
  origin = "";

  get url(): string {
    return `${this.origin}/mcp`;
  }

  /** The person signs in: follows the address as a browser would, and returns where the browser is redirected to. */
  async approve(authorizeUrl: string, change: { deny?: boolean; state?: string } = {}): Promise<string> {
    const url = new URL(authorizeUrl);
    const get = (name: string) => url.searchParams.get(name) ?? "";
    const redirect = new URL(get("redirect_uri"));
    redirect.searchParams.set("state", change.state ?? get("state"));
    if (change.deny) redirect.searchParams.set("error", "access_denied");
    else {
      const code = this.#secret("code");
      this.#codes.set(code, {
        challenge: get("code_challenge"),
        redirectUri: get("redirect_uri"),
        clientId: get("client_id"),
      });
      redirect.searchParams.set("code", code);
    }
    return redirect.href;
  }

  /** Ends the validity of all access tokens. */
  expire(): void {
    this.accessTokens.clear();
  }

  #secret(kind: string): string {
    const secret = `${kind}-${randomBytes(12).toString("hex")}`;
    this.secrets.push(secret);
    return secret;
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? "", this.origin);
    this.requests.push(`${request.method} ${pathname}`);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const send = (status: number, value: unknown, headers: Record<string, string> = {}) =>
      response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(value));
    switch (pathname) {
      case "/.well-known/oauth-protected-resource/mcp":
        return void send(200, {
          resource: this.url,
          authorization_servers: [this.origin],
          ...this.behaviour.resourceMetadata,
        });
      case "/.well-known/oauth-authorization-server":
      case "/elsewhere/metadata":
        return void send(200, {
          issuer: this.origin,
          authorization_endpoint: `${this.origin}/authorize`,
          token_endpoint: `${this.origin}/token`,
          registration_endpoint: `${this.origin}/register`,
          response_types_supported: ["code"],
          code_challenge_methods_supported: ["S256"],
          token_endpoint_auth_methods_supported: ["none", "client_secret_post"],
          ...this.behaviour.serverMetadata,
        });
      case "/register": {
        const wanted = JSON.parse(body) as Record<string, unknown>;
        this.registrations.push(wanted);
        return void send(201, { ...wanted, client_id: `client-${this.registrations.length}` });
      }
      case "/token":
        return this.#answerToken(Object.fromEntries(new URLSearchParams(body)), response, send);
      case "/mcp":
        return this.#answerMcp(request, body, response, send);
      default:
        return void send(404, {});
    }
  }

  #answerToken(fields: Record<string, string>, response: ServerResponse, send: Send): void {
    this.tokenRequests.push(fields);
    const { redirectsTokenTo, refusesRenewal } = this.behaviour;
    if (redirectsTokenTo !== undefined) return void response.writeHead(307, { location: redirectsTokenTo }).end();
    const refuse = () =>
      void send(400, { error: "invalid_grant", error_description: `refused ${JSON.stringify(fields)}` });
    if (fields["grant_type"] === "refresh_token") {
      if (refusesRenewal || !this.refreshTokens.delete(fields["refresh_token"] ?? "")) return refuse();
    } else {
      const code = this.#codes.get(fields["code"] ?? "");
      this.#codes.delete(fields["code"] ?? "");
      const challenge = createHash("sha256")
        .update(fields["code_verifier"] ?? "")
        .digest("base64url");
      this.secrets.push(fields["code_verifier"] ?? "none");
      const isRight =
        code?.challenge === challenge &&
        code.redirectUri === fields["redirect_uri"] &&
        code.clientId === fields["client_id"];
      if (!isRight) return refuse();
    }
    const access = this.#secret("access");
    const refresh = this.#secret("refresh");
    this.accessTokens.add(access);
    this.refreshTokens.add(refresh);
    send(200, { access_token: access, refresh_token: refresh, token_type: "Bearer", expires_in: 60, scope: "read" });
  }

  #answerMcp(request: IncomingMessage, body: string, response: ServerResponse, send: Send): void {
    const token = request.headers.authorization?.replace(/^Bearer /i, "");
    if (token === undefined || !this.accessTokens.has(token)) {
      const where = `Bearer resource_metadata="${this.origin}/.well-known/oauth-protected-resource/mcp", scope="read"`;
      return void send(401, { error: "unauthorized" }, { "www-authenticate": where });
    }
    if (this.behaviour.repeatsToken) return void send(500, { error: `wrong token ${token}` });
    if (request.method !== "POST") return void send(405, {});
    const { id, method, params } = JSON.parse(body) as {
      id?: number;
      method: string;
      params?: { protocolVersion?: string };
    };
    if (id === undefined) return void response.writeHead(202).end();
    const results: Record<string, unknown> = {
      initialize: {
        protocolVersion: params?.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: "protected", version: "1" },
      },
      "tools/list": { tools: [{ name: "whoami", inputSchema: { type: "object" } }] },
      "tools/call": { content: [{ type: "text", text: "you" }] },
    };
    const result = results[method];
    const error = { code: -32601, message: "Method not found" };
    send(200, { jsonrpc: "2.0", id, ...(result === undefined ? { error } : { result }) });
  }
}

type Send = (status: number, value: unknown, headers?: Record<string, string>) => unknown;

export async function startOAuthServer(): Promise<OAuthServer> {
  const oauth = new OAuthServer();
  const server = createServer((request, response) => void oauth.answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  oauth.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return oauth;
}
