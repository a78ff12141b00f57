// Written by scripts/generate-entries.mjs. Do not edit.
import listed from "#catalog/xiaomi-token-plan-ams.json" with { type: "json" };
import retired from "#catalog/retired/xiaomi-token-plan-ams.json" with { type: "json" };
import type { CatalogModelId } from "../catalog/catalog.ts";
import { defineEntry, type SelectModel } from "../entry.ts";
import { loadOpenaiCompletions } from "../protocols/index.ts";

export { createAI } from "../entry.ts";

/** Selects a model of the provider `xiaomi-token-plan-ams`, for `createAI`. Costs a bundle this provider's models and protocols only. */
export const xiaomiTokenPlanAms: SelectModel<CatalogModelId<"xiaomi-token-plan-ams">> = /* @__PURE__ */ defineEntry({
  provider: "xiaomi-token-plan-ams",
  listed,
  retired: () => retired,
  protocols: { "openai-completions": loadOpenaiCompletions },
});
