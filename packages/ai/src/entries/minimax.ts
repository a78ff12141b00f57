// Written by scripts/generate-entries.mjs. Do not edit.
import listed from "#catalog/minimax.json" with { type: "json" };
import retired from "#catalog/retired/minimax.json" with { type: "json" };
import type { CatalogModelId } from "../catalog/catalog.ts";
import { defineEntry, type SelectModel } from "../entry.ts";
import { loadAnthropicMessages } from "../protocols/index.ts";

export { createAI } from "../entry.ts";

/** Selects a model of the provider `minimax`, for `createAI`. Costs a bundle this provider's models and protocols only. */
export const minimax: SelectModel<CatalogModelId<"minimax">> = /* @__PURE__ */ defineEntry({
  provider: "minimax",
  listed,
  retired: () => retired,
  protocols: { "anthropic-messages": loadAnthropicMessages },
});
