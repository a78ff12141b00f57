// Written by scripts/generate-entries.mjs. Do not edit.
import listed from "#catalog/meta.json" with { type: "json" };
import retired from "#catalog/retired/meta.json" with { type: "json" };
import type { CatalogModelId } from "../catalog/catalog.ts";
import { defineEntry, type SelectModel } from "../entry.ts";
import { loadOpenaiResponses } from "../protocols/index.ts";

export { createAI } from "../entry.ts";

/** Selects a model of the provider `meta`, for `createAI`. Costs a bundle this provider's models and protocols only. */
export const meta: SelectModel<CatalogModelId<"meta">> = /* @__PURE__ */ defineEntry({
  provider: "meta",
  listed,
  retired: () => retired,
  protocols: { "openai-responses": loadOpenaiResponses },
});
