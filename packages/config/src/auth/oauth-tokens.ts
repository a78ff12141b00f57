/** Reads the answer of an authorization server. Pure. */
import { isRecord, tryParseJson } from "@tau/ai/internal";
import { type Failed, failed } from "./failure.ts";
import type { OAuthAnswer } from "./oauth-post.ts";
import type { OAuthProvider } from "./oauth-provider.ts";

/** The tokens as they are stored. */
export interface Tokens {
  access: string;
  refresh: string;
  expires: number;
  expires_in: number;
  [claim: string]: unknown;
}

export type TokenOutcome = { kind: "tokens"; tokens: Tokens } | Failed;

/** `key`: one that does not expire. */
export type LoginTokens = TokenOutcome | { kind: "key"; key: string };

interface ReadTokensOptions {
  provider: OAuthProvider;
  nowMs: number;
  /** Kept if the server gives no new one. */
  refresh?: string;
}

/** The lifetime if the server does not give one. */
const defaultSeconds = 3_600;

/** Refusals after which only a new login helps. The second group is OpenAI's. */
const finalRefusals = new Set([
  "invalid_grant",
  "invalid_token",
  "refresh_token_expired",
  "refresh_token_reused",
  "refresh_token_invalidated",
]);

export function readTokens(answer: OAuthAnswer, options: ReadTokensOptions): TokenOutcome {
  const { provider, nowMs, refresh: previous = "" } = options;
  const { status, json } = answer;
  if (status !== 200) return refusal(answer, provider);
  const access = json?.["access_token"];
  const refresh = json?.["refresh_token"] ?? previous;
  const seconds = Number(json?.["expires_in"] ?? defaultSeconds);
  const isUsable = isToken(access) && (refresh === "" || isToken(refresh)) && Number.isFinite(seconds) && seconds > 0;
  if (!isUsable) return failed("server", `${provider.name} gave an answer without a valid token. Try again later.`);
  const tokens = { access, refresh: String(refresh), expires: nowMs + seconds * 1000, expires_in: seconds };
  return { kind: "tokens", tokens: { ...getClaims(access, provider), ...tokens } };
}

function refusal({ status, json }: OAuthAnswer, { id, name }: OAuthProvider): Failed {
  if (status === 401 || finalRefusals.has(getErrorCode(json) ?? "")) {
    return failed("login_required", `${name} no longer accepts this login. Log in again: tau auth login ${id}`);
  }
  return failed(
    "server",
    `${name} answered with HTTP ${status}. Try again later. If that does not help, log in again.`,
  );
}

/** The error code: a string as in the standard, or the `code` of an object. It is never shown. */
export function getErrorCode(json: Record<string, unknown> | undefined): string | undefined {
  const error = json?.["error"];
  const code = isRecord(error) ? error["code"] : error;
  return typeof code === "string" ? code : undefined;
}

/** A token is sent in a header. */
export const isToken = (value: unknown): value is string =>
  typeof value === "string" && /^[\u0021-\u007e]+$/.test(value);

/** The claims of the token. They are not verified: the token came from the server and is sent only to its host. */
function getClaims(access: string, { claims = {} }: OAuthProvider): Record<string, string> {
  const payload = tryParseJson(Buffer.from(access.split(".")[1] ?? "", "base64url").toString("utf8"));
  const values = Object.entries(claims).map(([field, path]): [string, unknown] => [
    field,
    path.reduce<unknown>((value, key) => (isRecord(value) ? value[key] : undefined), payload),
  ]);
  return Object.fromEntries(values.filter((pair): pair is [string, string] => typeof pair[1] === "string"));
}

/** A token is renewed this long before it expires, or after four fifths of a short lifetime. */
const marginMs = 5 * 60_000;

export function isDue({ expires, expires_in }: { expires: number; expires_in?: number }, nowMs: number): boolean {
  const margin = expires_in === undefined ? marginMs : Math.min(marginMs, expires_in * 200);
  return nowMs >= expires - margin;
}
