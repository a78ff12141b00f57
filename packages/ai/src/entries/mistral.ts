// Written by scripts/generate-entries.mjs. Do not edit.
import listed from "#catalog/mistral.json" with { type: "json" };
import retired from "#catalog/retired/mistral.json" with { type: "json" };
import type { CatalogModelId } from "../catalog/catalog.ts";
import { defineEntry, type SelectModel } from "../entry.ts";
import { loadMistralConversations } from "../protocols/index.ts";

export { createAI } from "../entry.ts";

/** Selects a model of the provider `mistral`, for `createAI`. Costs a bundle this provider's models and protocols only. */
export const mistral: SelectModel<CatalogModelId<"mistral">> = /* @__PURE__ */ defineEntry({
  provider: "mistral",
  listed,
  retired: () => retired,
  protocols: { "mistral-conversations": loadMistralConversations },
});
