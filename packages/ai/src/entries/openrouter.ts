// Written by scripts/generate-entries.mjs. Do not edit.
import listed from "#catalog/openrouter.json" with { type: "json" };
import retired from "#catalog/retired/openrouter.json" with { type: "json" };
import type { CatalogModelId } from "../catalog/catalog.ts";
import { defineEntry, type SelectModel } from "../entry.ts";
import { loadAnthropicMessages, loadOpenaiCompletions } from "../protocols/index.ts";

export { createAI } from "../entry.ts";

/** Selects a model of the provider `openrouter`, for `createAI`. Costs a bundle this provider's models and protocols only. */
export const openrouter: SelectModel<CatalogModelId<"openrouter">> = /* @__PURE__ */ defineEntry({
  provider: "openrouter",
  listed,
  retired: () => retired,
  protocols: { "anthropic-messages": loadAnthropicMessages, "openai-completions": loadOpenaiCompletions },
});
