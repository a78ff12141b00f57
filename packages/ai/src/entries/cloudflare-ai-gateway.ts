// Written by scripts/generate-entries.mjs. Do not edit.
import listed from "#catalog/cloudflare-ai-gateway.json" with { type: "json" };
import retired from "#catalog/retired/cloudflare-ai-gateway.json" with { type: "json" };
import type { CatalogModelId } from "../catalog/catalog.ts";
import { defineEntry, type SelectModel } from "../entry.ts";
import { loadAnthropicMessages, loadOpenaiCompletions, loadOpenaiResponses } from "../protocols/index.ts";

export { createAI } from "../entry.ts";

/** Selects a model of the provider `cloudflare-ai-gateway`, for `createAI`. Costs a bundle this provider's models and protocols only. */
export const cloudflareAiGateway: SelectModel<CatalogModelId<"cloudflare-ai-gateway">> = /* @__PURE__ */ defineEntry({
  provider: "cloudflare-ai-gateway",
  listed,
  retired: () => retired,
  protocols: {
    "anthropic-messages": loadAnthropicMessages,
    "openai-completions": loadOpenaiCompletions,
    "openai-responses": loadOpenaiResponses,
  },
});
