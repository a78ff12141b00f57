// Written by scripts/generate-entries.mjs. Do not edit.
import listed from "#catalog/baseten.json" with { type: "json" };
import retired from "#catalog/retired/baseten.json" with { type: "json" };
import type { CatalogModelId } from "../catalog/catalog.ts";
import { defineEntry, type SelectModel } from "../entry.ts";
import { loadOpenaiCompletions } from "../protocols/index.ts";

export { createAI } from "../entry.ts";

/** Selects a model of the provider `baseten`, for `createAI`. Costs a bundle this provider's models and protocols only. */
export const baseten: SelectModel<CatalogModelId<"baseten">> = /* @__PURE__ */ defineEntry({
  provider: "baseten",
  listed,
  retired: () => retired,
  protocols: { "openai-completions": loadOpenaiCompletions },
});
