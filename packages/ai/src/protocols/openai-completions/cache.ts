/** The cache settings of a request: OpenAI's fields or Anthropic's `cache_control` markers. */
import type { OpenAICompletionsOptions } from "./options.ts";
import type { CompletionsModel } from "./compat.ts";
import type { Wire } from "./messages.ts";

/** Maximum length of OpenAI's `prompt_cache_key`, in characters. */
const maxKeyLength = 64;

/** OpenAI's fields: a key shared by the requests of one session, and how long the prefix is cached. */
export function encodeCacheFields({ compat }: CompletionsModel, options: OpenAICompletionsOptions): Wire {
  const retention = options.cacheRetention ?? "short";
  if (retention === "none" || compat.cacheControlFormat) return {};
  const keepsLong = retention === "long" && compat.supportsLongCacheRetention;
  const hasKey = options.sessionId && (compat.supportsPromptCacheKey || keepsLong);
  return {
    ...(hasKey && { prompt_cache_key: [...options.sessionId!.toWellFormed()].slice(0, maxKeyLength).join("") }),
    ...(keepsLong && { prompt_cache_retention: "24h" }),
  };
}

/** Adds Anthropic's markers at the end of the system prompt, the tools and the history. Changes them in place. */
export function markCacheable(
  { compat }: CompletionsModel,
  options: OpenAICompletionsOptions,
  request: { system: Wire | undefined; tools: Wire[]; history: Wire[] },
): void {
  const retention = options.cacheRetention ?? "short";
  if (compat.cacheControlFormat !== "anthropic" || retention === "none") return;
  const keepsHour = retention === "long" && compat.supportsLongCacheRetention;
  const marker = { cache_control: { type: "ephemeral", ...(keepsHour && { ttl: "1h" }) } };
  if (request.system) markText(request.system, marker);
  const lastTool = request.tools.at(-1);
  if (lastTool) Object.assign(lastTool, marker);
  request.history.findLast((message) => markText(message, marker));
}

/** Marks the last text of a message. Returns false if the message has no text. */
function markText(message: Wire, marker: Wire): boolean {
  const content = message["content"];
  if (typeof content === "string" && content !== "") {
    message["content"] = [{ type: "text", text: content, ...marker }];
    return true;
  }
  const part = Array.isArray(content) ? (content as Wire[]).findLast(({ type }) => type === "text") : undefined;
  if (part) Object.assign(part, marker);
  return part !== undefined;
}
