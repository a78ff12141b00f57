// Written by scripts/generate-entries.mjs. Do not edit.
import listed from "#catalog/anthropic.json" with { type: "json" };
import retired from "#catalog/retired/anthropic.json" with { type: "json" };
import type { CatalogModelId } from "../catalog/catalog.ts";
import { defineEntry, type SelectModel } from "../entry.ts";
import { loadAnthropicMessages } from "../protocols/index.ts";

export { createAI } from "../entry.ts";

/** Selects a model of the provider `anthropic`, for `createAI`. Costs a bundle this provider's models and protocols only. */
export const anthropic: SelectModel<CatalogModelId<"anthropic">> = /* @__PURE__ */ defineEntry({
  provider: "anthropic",
  listed,
  retired: () => retired,
  protocols: { "anthropic-messages": loadAnthropicMessages },
});
