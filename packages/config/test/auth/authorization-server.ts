/** An authorization server on this machine, as strict as the standards ask for, that counts and can be told to misbehave. */
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import type { OAuthProvider } from "../../src/auth/oauth-provider.ts";

/** Instead of a proper answer. */
export interface Raw {
  status: number;
  body: string;
}

export interface AuthorizationServer {
  readonly url: string;
  /** The grants that `/token` was asked for. */
  readonly grants: string[];
  /** The fields of each question to `/token`. */
  readonly questions: Record<string, string>[];
  /** The answers to polls for a device code, first to last; the last again and again. */
  polls: string[];
  /** Seconds a token is good for. */
  lifetime: number;
  /** The answer to the next questions of any kind. */
  raw: Raw | undefined;
  /** Called before a refresh is answered. */
  beforeRefresh: () => Promise<void>;
  /** The refresh tokens that are good. */
  readonly refreshTokens: Set<string>;
  /** Does what a browser does with a person in front of it, up to the redirect, and gives that. */
  approve(authorizeUrl: string): string;
  provider(extra?: Partial<OAuthProvider>): OAuthProvider;
  close(): Promise<void>;
}

/** In every secret, so that a test can see whether one got out. */
export const canary = "canary-0f3b";

export async function startAuthorizationServer(): Promise<AuthorizationServer> {
  const codes = new Map<string, { challenge: string; redirectUri: string }>();
  let count = 0;
  const secret = (kind: string) => `${kind}-${canary}-${++count}`;

  const issue = () => {
    const refresh_token = secret("refresh");
    server.refreshTokens.add(refresh_token);
    return {
      access_token: secret("access"),
      refresh_token,
      token_type: "Bearer",
      expires_in: server.lifetime,
      // Servers repeat what they should not.
      scope: `said-${canary}`,
    };
  };

  const refuse = (error: string) => ({ status: 400, body: { error, error_description: `no: ${canary}` } });

  function byCode(fields: Record<string, string>) {
    const known = codes.get(fields["code"] ?? "");
    // Good once.
    codes.delete(fields["code"] ?? "");
    const challenge = createHash("sha256")
      .update(fields["code_verifier"] ?? "")
      .digest("base64url");
    if (!known || known.challenge !== challenge || known.redirectUri !== fields["redirect_uri"]) {
      return refuse("invalid_grant");
    }
    return { status: 200, body: issue() };
  }

  async function byRefresh(fields: Record<string, string>) {
    await server.beforeRefresh();
    // Rotated: the old one is gone.
    if (!server.refreshTokens.delete(fields["refresh_token"] ?? "")) return refuse("invalid_grant");
    return { status: 200, body: issue() };
  }

  function byDevice() {
    const next = server.polls.length > 1 ? server.polls.shift() : server.polls[0];
    return next === undefined || next === "granted" ? { status: 200, body: issue() } : refuse(next);
  }

  async function token(fields: Record<string, string>) {
    const grant = fields["grant_type"] ?? "";
    server.grants.push(grant.replace(/^.*:/, ""));
    server.questions.push(fields);
    if (fields["client_id"] !== "test-client") return { status: 401, body: { error: "invalid_client" } };
    if (grant === "authorization_code") return byCode(fields);
    if (grant === "refresh_token") return await byRefresh(fields);
    return grant.endsWith(":device_code") ? byDevice() : refuse("unsupported_grant_type");
  }

  const device = () => ({
    status: 200,
    body: {
      device_code: secret("device"),
      user_code: "WDJB-MJHT",
      verification_uri: `${server.url}/activate`,
      verification_uri_complete: `${server.url}/activate?user_code=WDJB-MJHT`,
      expires_in: 900,
      interval: 5,
    },
  });

  async function answer(request: IncomingMessage, response: ServerResponse) {
    const text = await readBody(request);
    if (server.raw) return response.writeHead(server.raw.status).end(server.raw.body);
    const isJson = request.headers["content-type"] === "application/json";
    const fields = isJson
      ? (JSON.parse(text) as Record<string, string>)
      : Object.fromEntries(new URLSearchParams(text).entries());
    const { status, body } = request.url === "/token" ? await token(fields) : device();
    return response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  }

  const listener = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const close = async () => {
    listener.closeAllConnections();
    await new Promise((resolve) => listener.close(resolve));
  };
  onTestFinished(close);
  const url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;

  const server: AuthorizationServer = {
    url,
    grants: [],
    questions: [],
    polls: [],
    lifetime: 3_600,
    raw: undefined,
    beforeRefresh: () => Promise.resolve(),
    refreshTokens: new Set(),
    approve(authorizeUrl) {
      const asked = new URL(authorizeUrl).searchParams;
      const value = (name: string) => {
        const found = asked.get(name);
        if (!found) throw new Error(`the authorization request has no ${name}`);
        return found;
      };
      if (value("response_type") !== "code" || value("code_challenge_method") !== "S256") throw new Error("wrong kind");
      if (value("client_id") !== "test-client" || value("scope") !== "one two") throw new Error("wrong client");
      const code = secret("code");
      const redirectUri = value("redirect_uri");
      codes.set(code, { challenge: value("code_challenge"), redirectUri });
      const back = new URL(redirectUri);
      back.searchParams.set("code", code);
      back.searchParams.set("state", value("state"));
      return back.href;
    },
    provider: (extra = {}) => ({
      id: "here",
      name: "Here",
      clientId: "test-client",
      scopes: ["one", "two"],
      tokenUrl: `${url}/token`,
      browser: { authorizeUrl: `${url}/authorize?tenant=1`, redirect: { port: 0, path: "/back" } },
      device: { dialect: "standard", startUrl: `${url}/device` },
      hosts: ["api.here.example"],
      ...extra,
    }),
    close,
  };
  return server;
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
