// Written by scripts/generate-entries.mjs. Do not edit.
import listed from "#catalog/cloudflare-workers-ai.json" with { type: "json" };
import retired from "#catalog/retired/cloudflare-workers-ai.json" with { type: "json" };
import type { CatalogModelId } from "../catalog/catalog.ts";
import { defineEntry, type SelectModel } from "../entry.ts";
import { loadOpenaiCompletions } from "../protocols/index.ts";

export { createAI } from "../entry.ts";

/** Selects a model of the provider `cloudflare-workers-ai`, for `createAI`. Costs a bundle this provider's models and protocols only. */
export const cloudflareWorkersAi: SelectModel<CatalogModelId<"cloudflare-workers-ai">> = /* @__PURE__ */ defineEntry({
  provider: "cloudflare-workers-ai",
  listed,
  retired: () => retired,
  protocols: { "openai-completions": loadOpenaiCompletions },
});
