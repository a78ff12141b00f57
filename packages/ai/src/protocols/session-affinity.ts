/** How a provider learns which requests belong to one session, so that they share a prompt cache. */
import { toShortHash } from "../hash.ts";
import type { SessionAffinityFormat } from "../model.ts";
import type { StreamOptions } from "../options.ts";

type SessionOptions = Pick<StreamOptions, "sessionId" | "cacheRetention">;

/** Maximum length of OpenAI's `prompt_cache_key`, in characters. */
const maxCacheKeyLength = 64;

/** The field `prompt_cache_key`. Undefined if caching is off. */
export function getPromptCacheKey({ sessionId, cacheRetention }: SessionOptions): string | undefined {
  if (!sessionId || cacheRetention === "none") return undefined;
  return [...sessionId.toWellFormed()].slice(0, maxCacheKeyLength).join("");
}

/** Headers that route the requests of one session to the same prompt cache. Empty if caching is off. */
export function getSessionAffinityHeaders(
  { sessionId, cacheRetention }: SessionOptions,
  format: SessionAffinityFormat = "openai",
): Record<string, string> {
  if (!sessionId || cacheRetention === "none") return {};
  const id = toHeaderValue(sessionId);
  switch (format) {
    case "openai":
      return { session_id: id, "x-client-request-id": id, "x-session-affinity": id };
    case "openai-nosession":
      return { "x-client-request-id": id, "x-session-affinity": id };
    case "openrouter":
      return { "x-session-id": id };
  }
}

/** The id of a session as the value of a header. An id that is long, or not ASCII, is hashed. */
export const toHeaderValue = (sessionId: string): string =>
  /^[\x21-\x7e]{1,128}$/.test(sessionId) ? sessionId : toShortHash(sessionId);
