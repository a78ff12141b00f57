// Written by scripts/generate-entries.mjs. Do not edit.
import listed from "#catalog/moonshotai-cn.json" with { type: "json" };
import retired from "#catalog/retired/moonshotai-cn.json" with { type: "json" };
import type { CatalogModelId } from "../catalog/catalog.ts";
import { defineEntry, type SelectModel } from "../entry.ts";
import { loadOpenaiCompletions } from "../protocols/index.ts";

export { createAI } from "../entry.ts";

/** Selects a model of the provider `moonshotai-cn`, for `createAI`. Costs a bundle this provider's models and protocols only. */
export const moonshotaiCn: SelectModel<CatalogModelId<"moonshotai-cn">> = /* @__PURE__ */ defineEntry({
  provider: "moonshotai-cn",
  listed,
  retired: () => retired,
  protocols: { "openai-completions": loadOpenaiCompletions },
});
