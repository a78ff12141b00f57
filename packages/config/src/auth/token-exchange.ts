/** Exchanges the token of a login for the one that requests need, and asks which models the account may use. */
import { systemClock } from "@tau/ai";
import { asRecord, getProviderInfo } from "@tau/ai/internal";
import { type Failed, failed } from "./failure.ts";
import { getHost } from "./key-host.ts";
import { get, type OAuthAnswer, type OAuthPorts } from "./oauth-post.ts";
import { isSafeUrl, type OAuthProvider, type TokenExchange } from "./oauth-provider.ts";
import { isToken, type TokenOutcome } from "./oauth-tokens.ts";
import { parseServed, readModelIds } from "./served-models.ts";

interface Exchange {
  provider: OAuthProvider;
  exchange: TokenExchange;
  /** That of the login, which is stored as the one that renews the other. */
  token: string;
  /** The stored login, if there is one. */
  stored?: Readonly<Record<string, unknown>>;
}

/** A list of models is asked for again after a day. */
const maxListAgeMs = 24 * 3_600_000;

export async function exchangeToken(request: Exchange, ports: OAuthPorts): Promise<TokenOutcome> {
  const { provider, exchange, token, stored = {} } = request;
  const headers = { ...getProviderInfo(provider.id)?.headers };
  const answer = await get({ url: exchange.url, headers: { ...headers, authorization: `Bearer ${token}` } }, ports);
  if (answer.kind === "failed") return answer;
  const nowMs = (ports.clock ?? systemClock).now();
  const outcome = readExchange(answer, { provider, token, nowMs });
  if (outcome.kind === "failed") return outcome;
  const baseUrl = outcome.baseUrl ?? parseServed(stored["serves"])?.baseUrl;
  const { tokens } = outcome;
  if (baseUrl === undefined) return { kind: "tokens", tokens };
  const listed = asRecord(stored["serves"]);
  const ids = parseServed(listed)?.ids;
  const isFresh = ids !== undefined && nowMs - Number(listed["listedAt"]) < maxListAgeMs;
  const host = getHost(baseUrl);
  if (isFresh) return { kind: "tokens", tokens: { ...tokens, host, serves: { ...listed, baseUrl } } };
  const models = await get(
    { url: baseUrl + exchange.modelsPath, headers: { ...headers, authorization: `Bearer ${tokens.access}` } },
    ports,
  );
  // Without a list all models of the provider are offered: the server refuses those that the account does not have.
  const newIds = models.kind === "answer" && models.status === 200 ? readModelIds(models.json) : undefined;
  const serves = newIds ? { baseUrl, ids: newIds, listedAt: nowMs } : { ...listed, baseUrl };
  return { kind: "tokens", tokens: { ...tokens, host, serves } };
}

type ExchangeOutcome = (Extract<TokenOutcome, { kind: "tokens" }> & { baseUrl?: string }) | Failed;

/** Pure. */
export function readExchange(
  { status, json }: OAuthAnswer,
  { provider, token, nowMs }: { provider: OAuthProvider; token: string; nowMs: number },
): ExchangeOutcome {
  const { id, name } = provider;
  if (status === 401) {
    return failed("login_required", `${name} no longer accepts this login. Log in again: tau auth login ${id}`);
  }
  if (status === 403 || status === 404) {
    return failed("denied", `This account has no access to ${name} (HTTP ${status}). Check its subscription.`);
  }
  const [access, expiresAt, api] = [json?.["token"], json?.["expires_at"], asRecord(json?.["endpoints"])["api"]];
  if (status !== 200 || !isToken(access) || typeof expiresAt !== "number" || expiresAt * 1000 <= nowMs) {
    return failed("server", `${name} gave no token for its models (HTTP ${status}). Try again later.`);
  }
  const expires = expiresAt * 1000;
  const tokens = { access, refresh: token, expires, expires_in: Math.round((expires - nowMs) / 1000) };
  const baseUrl = typeof api === "string" && isSafeUrl(api) ? api.replace(/\/+$/, "") : undefined;
  return { kind: "tokens", tokens, ...(baseUrl !== undefined && { baseUrl }) };
}
