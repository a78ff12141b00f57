// Written by scripts/generate-entries.mjs. Do not edit.
import listed from "#catalog/ant-ling.json" with { type: "json" };
import retired from "#catalog/retired/ant-ling.json" with { type: "json" };
import type { CatalogModelId } from "../catalog/catalog.ts";
import { defineEntry, type SelectModel } from "../entry.ts";
import { loadOpenaiCompletions } from "../protocols/index.ts";

export { createAI } from "../entry.ts";

/** Selects a model of the provider `ant-ling`, for `createAI`. Costs a bundle this provider's models and protocols only. */
export const antLing: SelectModel<CatalogModelId<"ant-ling">> = /* @__PURE__ */ defineEntry({
  provider: "ant-ling",
  listed,
  retired: () => retired,
  protocols: { "openai-completions": loadOpenaiCompletions },
});
