/** The cache settings of a request: OpenAI's fields or Anthropic's `cache_control` markers. */
import { getPromptCacheKey } from "../session-affinity.ts";
import type { OpenAICompletionsOptions } from "./options.ts";
import type { CompletionsModel } from "./compat.ts";
import type { Wire } from "./messages.ts";

/** OpenAI's fields: a key shared by the requests of one session, and how long the prefix is cached. */
export function encodeCacheFields({ compat }: CompletionsModel, options: OpenAICompletionsOptions): Wire {
  const retention = options.cacheRetention ?? "short";
  if (retention === "none" || compat.cacheControlFormat) return {};
  const keepsLong = retention === "long" && compat.supportsLongCacheRetention;
  const cacheKey = compat.supportsPromptCacheKey || keepsLong ? getPromptCacheKey(options) : undefined;
  return {
    ...(cacheKey && { prompt_cache_key: cacheKey }),
    ...(keepsLong && { prompt_cache_retention: "24h" }),
  };
}

/**
 * Adds Anthropic's markers at the end of the system prompt, the tools and the history. Changes them in place, except for
 * the messages of the history: they are used by later requests too, so the marked one is a copy.
 */
export function markCacheable(
  { compat }: CompletionsModel,
  options: OpenAICompletionsOptions,
  request: { system: Wire | undefined; tools: Wire[]; history: Wire[] },
): void {
  const retention = options.cacheRetention ?? "short";
  if (compat.cacheControlFormat !== "anthropic" || retention === "none") return;
  const keepsHour = retention === "long" && compat.supportsLongCacheRetention;
  const marker = { cache_control: { type: "ephemeral", ...(keepsHour && { ttl: "1h" }) } };
  if (request.system) Object.assign(request.system, markText(request.system, marker));
  const lastTool = request.tools.at(-1);
  if (lastTool) Object.assign(lastTool, marker);
  for (let index = request.history.length - 1; index >= 0; index--) {
    const marked = markText(request.history[index]!, marker);
    if (!marked) continue;
    request.history[index] = marked;
    return;
  }
}

/** A copy of a message with its last text marked; undefined if the message has no text. */
function markText(message: Wire, marker: Wire): Wire | undefined {
  const content = message["content"];
  if (typeof content === "string" && content !== "") {
    return { ...message, content: [{ type: "text", text: content, ...marker }] };
  }
  if (!Array.isArray(content)) return undefined;
  const parts = content as Wire[];
  const last = parts.findLastIndex(({ type }) => type === "text");
  return last < 0 ? undefined : { ...message, content: parts.with(last, { ...parts[last], ...marker }) };
}
