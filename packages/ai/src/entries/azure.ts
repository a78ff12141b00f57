// Written by scripts/generate-entries.mjs. Do not edit.
import listed from "#catalog/azure.json" with { type: "json" };
import retired from "#catalog/retired/azure.json" with { type: "json" };
import type { CatalogModelId } from "../catalog/catalog.ts";
import { defineEntry, type SelectModel } from "../entry.ts";
import { loadAzureOpenaiResponses, loadOpenaiCompletions } from "../protocols/index.ts";

export { createAI } from "../entry.ts";

/** Selects a model of the provider `azure`, for `createAI`. Costs a bundle this provider's models and protocols only. */
export const azure: SelectModel<CatalogModelId<"azure">> = /* @__PURE__ */ defineEntry({
  provider: "azure",
  listed,
  retired: () => retired,
  protocols: { "azure-openai-responses": loadAzureOpenaiResponses, "openai-completions": loadOpenaiCompletions },
});
