// Written by scripts/generate-entries.mjs. Do not edit.
import listed from "#catalog/qwen-token-plan-individual.json" with { type: "json" };
import retired from "#catalog/retired/qwen-token-plan-individual.json" with { type: "json" };
import type { CatalogModelId } from "../catalog/catalog.ts";
import { defineEntry, type SelectModel } from "../entry.ts";
import { loadOpenaiCompletions } from "../protocols/index.ts";

export { createAI } from "../entry.ts";

/** Selects a model of the provider `qwen-token-plan-individual`, for `createAI`. Costs a bundle this provider's models and protocols only. */
export const qwenTokenPlanIndividual: SelectModel<CatalogModelId<"qwen-token-plan-individual">> =
  /* @__PURE__ */ defineEntry({
    provider: "qwen-token-plan-individual",
    listed,
    retired: () => retired,
    protocols: { "openai-completions": loadOpenaiCompletions },
  });
