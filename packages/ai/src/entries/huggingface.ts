// Written by scripts/generate-entries.mjs. Do not edit.
import listed from "#catalog/huggingface.json" with { type: "json" };
import retired from "#catalog/retired/huggingface.json" with { type: "json" };
import type { CatalogModelId } from "../catalog/catalog.ts";
import { defineEntry, type SelectModel } from "../entry.ts";
import { loadOpenaiCompletions } from "../protocols/index.ts";

export { createAI } from "../entry.ts";

/** Selects a model of the provider `huggingface`, for `createAI`. Costs a bundle this provider's models and protocols only. */
export const huggingface: SelectModel<CatalogModelId<"huggingface">> = /* @__PURE__ */ defineEntry({
  provider: "huggingface",
  listed,
  retired: () => retired,
  protocols: { "openai-completions": loadOpenaiCompletions },
});
