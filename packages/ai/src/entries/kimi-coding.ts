// Written by scripts/generate-entries.mjs. Do not edit.
import listed from "#catalog/kimi-coding.json" with { type: "json" };
import retired from "#catalog/retired/kimi-coding.json" with { type: "json" };
import type { CatalogModelId } from "../catalog/catalog.ts";
import { defineEntry, type SelectModel } from "../entry.ts";
import { loadOpenaiCompletions } from "../protocols/index.ts";

export { createAI } from "../entry.ts";

/** Selects a model of the provider `kimi-coding`, for `createAI`. Costs a bundle this provider's models and protocols only. */
export const kimiCoding: SelectModel<CatalogModelId<"kimi-coding">> = /* @__PURE__ */ defineEntry({
  provider: "kimi-coding",
  listed,
  retired: () => retired,
  protocols: { "openai-completions": loadOpenaiCompletions },
});
