// Written by scripts/generate-entries.mjs. Do not edit.
import listed from "#catalog/vercel-ai-gateway.json" with { type: "json" };
import retired from "#catalog/retired/vercel-ai-gateway.json" with { type: "json" };
import type { CatalogModelId } from "../catalog/catalog.ts";
import { defineEntry, type SelectModel } from "../entry.ts";
import { loadAnthropicMessages } from "../protocols/index.ts";

export { createAI } from "../entry.ts";

/** Selects a model of the provider `vercel-ai-gateway`, for `createAI`. Costs a bundle this provider's models and protocols only. */
export const vercelAiGateway: SelectModel<CatalogModelId<"vercel-ai-gateway">> = /* @__PURE__ */ defineEntry({
  provider: "vercel-ai-gateway",
  listed,
  retired: () => retired,
  protocols: { "anthropic-messages": loadAnthropicMessages },
});
