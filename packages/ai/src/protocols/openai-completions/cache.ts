/** What a request says about caching: OpenAI's fields, or markers in Anthropic's way. */
import type { OpenAICompletionsOptions } from "./options.ts";
import type { CompletionsModel } from "./compat.ts";
import type { Wire } from "./messages.ts";

/** The longest key that OpenAI takes, in characters. */
const maxKeyLength = 64;

/** OpenAI's way: a key that brings a conversation's requests together, and how long its prefix is kept. */
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

/** Anthropic's way: marks where the system prompt, the tools and the conversation so far end. Changes them in place. */
export function markCacheable(
  { compat }: CompletionsModel,
  options: OpenAICompletionsOptions,
  request: { system: Wire | undefined; tools: Wire[]; history: Wire[] },
): void {
  const retention = options.cacheRetention ?? "short";
  if (compat.cacheControlFormat !== "anthropic" || retention === "none") return;
  const hour = retention === "long" && compat.supportsLongCacheRetention;
  const marker = { cache_control: { type: "ephemeral", ...(hour && { ttl: "1h" }) } };
  if (request.system) markText(request.system, marker);
  const lastTool = request.tools.at(-1);
  if (lastTool) Object.assign(lastTool, marker);
  request.history.findLast((message) => markText(message, marker));
}

/** Marks the last text of a message. False when it has none. */
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
