/** What an authorization server's answer means. Pure. */
import { isRecord } from "@tau/ai";
import { type Failed, failed } from "./failure.ts";
import type { OAuthAnswer } from "./oauth-post.ts";
import type { OAuthProvider } from "./oauth-providers.ts";

/** As they are stored. */
export interface Tokens {
  access: string;
  refresh: string;
  expires: number;
  expires_in: number;
  [claim: string]: unknown;
}

export type TokenOutcome = { kind: "tokens"; tokens: Tokens } | Failed;

export interface TokenReading {
  provider: OAuthProvider;
  nowMs: number;
  /** Kept when the server gives no new one. */
  refresh?: string;
}

/** When a server does not say how long a token is good for. */
const assumedSeconds = 3_600;

/** Refusals after which only a new login helps. The second group is OpenAI's. */
const finalRefusals = new Set([
  "invalid_grant",
  "invalid_token",
  "refresh_token_expired",
  "refresh_token_reused",
  "refresh_token_invalidated",
]);

export function readTokens(answer: OAuthAnswer, reading: TokenReading): TokenOutcome {
  const { provider, nowMs, refresh: previous = "" } = reading;
  const { status, json } = answer;
  if (status !== 200) return refusal(answer, provider);
  const access = json?.["access_token"];
  const refresh = json?.["refresh_token"] ?? previous;
  const seconds = Number(json?.["expires_in"] ?? assumedSeconds);
  const isUsable = isToken(access) && (refresh === "" || isToken(refresh)) && Number.isFinite(seconds) && seconds > 0;
  if (!isUsable) return failed("server", `${provider.name} answered with something that is no token. Try again later.`);
  const tokens = { access, refresh: String(refresh), expires: nowMs + seconds * 1000, expires_in: seconds };
  return { kind: "tokens", tokens: { ...getClaims(access, provider), ...tokens } };
}

function refusal({ status, json }: OAuthAnswer, { id, name }: OAuthProvider): Failed {
  if (status === 401 || finalRefusals.has(errorCode(json) ?? "")) {
    return failed("login_required", `${name} no longer accepts this login. Log in again: tau auth login ${id}`);
  }
  return failed("server", `${name} answered with HTTP ${status}. Try again later; if it stays so, log in again.`);
}

/** The code of a refusal, as the standard writes it or as an object with a `code`. Compare it; never show it. */
export function errorCode(json: Record<string, unknown> | undefined): string | undefined {
  const error = json?.["error"];
  const code = isRecord(error) ? error["code"] : error;
  return typeof code === "string" ? code : undefined;
}

/** It goes into a header. */
const isToken = (value: unknown): value is string => typeof value === "string" && /^[\u0021-\u007e]+$/.test(value);

/** What the token itself says of its owner. It is not verified: it came from the server, and only its host sees it. */
function getClaims(access: string, { claims = {} }: OAuthProvider): Record<string, string> {
  const payload = parsePayload(access.split(".")[1] ?? "");
  const found = Object.entries(claims).map(([field, path]): [string, unknown] => [
    field,
    path.reduce<unknown>((value, key) => (isRecord(value) ? value[key] : undefined), payload),
  ]);
  return Object.fromEntries(found.filter((pair): pair is [string, string] => typeof pair[1] === "string"));
}

function parsePayload(part: string): unknown {
  try {
    return JSON.parse(Buffer.from(part, "base64url").toString("utf8")) as unknown;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** A token is renewed this long before it ends, or for a short-lived one a fifth of its life. */
const marginMs = 5 * 60_000;

export function isDue({ expires, expires_in }: { expires: number; expires_in?: number }, nowMs: number): boolean {
  const margin = expires_in === undefined ? marginMs : Math.min(marginMs, expires_in * 200);
  return nowMs >= expires - margin;
}
