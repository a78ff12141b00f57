// Written by scripts/generate-entries.mjs. Do not edit.
import listed from "#catalog/minimax-cn.json" with { type: "json" };
import retired from "#catalog/retired/minimax-cn.json" with { type: "json" };
import type { CatalogModelId } from "../catalog/catalog.ts";
import { defineEntry, type SelectModel } from "../entry.ts";
import { loadAnthropicMessages } from "../protocols/index.ts";

export { createAI } from "../entry.ts";

/** Selects a model of the provider `minimax-cn`, for `createAI`. Costs a bundle this provider's models and protocols only. */
export const minimaxCn: SelectModel<CatalogModelId<"minimax-cn">> = /* @__PURE__ */ defineEntry({
  provider: "minimax-cn",
  listed,
  retired: () => retired,
  protocols: { "anthropic-messages": loadAnthropicMessages },
});
