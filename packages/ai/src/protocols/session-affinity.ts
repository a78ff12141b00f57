import type { SessionAffinityFormat } from "../model.ts";
import type { StreamOptions } from "../options.ts";

/** Headers that route the requests of one session to the same prompt cache. Empty if caching is off. */
export function getSessionAffinityHeaders(
  options: Pick<StreamOptions, "sessionId" | "cacheRetention">,
  format: SessionAffinityFormat = "openai",
): Record<string, string> {
  const { sessionId } = options;
  if (!sessionId || options.cacheRetention === "none") return {};
  switch (format) {
    case "openai":
      return { session_id: sessionId, "x-client-request-id": sessionId, "x-session-affinity": sessionId };
    case "openai-nosession":
      return { "x-client-request-id": sessionId, "x-session-affinity": sessionId };
    case "openrouter":
      return { "x-session-id": sessionId };
  }
}
