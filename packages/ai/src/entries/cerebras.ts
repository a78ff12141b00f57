// Written by scripts/generate-entries.mjs. Do not edit.
import listed from "#catalog/cerebras.json" with { type: "json" };
import retired from "#catalog/retired/cerebras.json" with { type: "json" };
import type { CatalogModelId } from "../catalog/catalog.ts";
import { defineEntry, type SelectModel } from "../entry.ts";
import { loadOpenaiCompletions } from "../protocols/index.ts";

export { createAI } from "../entry.ts";

/** Selects a model of the provider `cerebras`, for `createAI`. Costs a bundle this provider's models and protocols only. */
export const cerebras: SelectModel<CatalogModelId<"cerebras">> = /* @__PURE__ */ defineEntry({
  provider: "cerebras",
  listed,
  retired: () => retired,
  protocols: { "openai-completions": loadOpenaiCompletions },
});
