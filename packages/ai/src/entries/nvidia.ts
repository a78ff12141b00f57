// Written by scripts/generate-entries.mjs. Do not edit.
import listed from "#catalog/nvidia.json" with { type: "json" };
import retired from "#catalog/retired/nvidia.json" with { type: "json" };
import type { CatalogModelId } from "../catalog/catalog.ts";
import { defineEntry, type SelectModel } from "../entry.ts";
import { loadOpenaiCompletions } from "../protocols/index.ts";

export { createAI } from "../entry.ts";

/** Selects a model of the provider `nvidia`, for `createAI`. Costs a bundle this provider's models and protocols only. */
export const nvidia: SelectModel<CatalogModelId<"nvidia">> = /* @__PURE__ */ defineEntry({
  provider: "nvidia",
  listed,
  retired: () => retired,
  protocols: { "openai-completions": loadOpenaiCompletions },
});
