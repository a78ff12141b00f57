// Written by scripts/generate-entries.mjs. Do not edit.
import listed from "#catalog/openai.json" with { type: "json" };
import retired from "#catalog/retired/openai.json" with { type: "json" };
import type { CatalogModelId } from "../catalog/catalog.ts";
import { defineEntry, type SelectModel } from "../entry.ts";
import { loadOpenaiResponses } from "../protocols/index.ts";

export { createAI } from "../entry.ts";

/** Selects a model of the provider `openai`, for `createAI`. Costs a bundle this provider's models and protocols only. */
export const openai: SelectModel<CatalogModelId<"openai">> = /* @__PURE__ */ defineEntry({
  provider: "openai",
  listed,
  retired: () => retired,
  protocols: { "openai-responses": loadOpenaiResponses },
});
