// Written by scripts/generate-entries.mjs. Do not edit.
import listed from "#catalog/openai-codex.json" with { type: "json" };
import retired from "#catalog/retired/openai-codex.json" with { type: "json" };
import type { CatalogModelId } from "../catalog/catalog.ts";
import { defineEntry, type SelectModel } from "../entry.ts";
import { loadOpenaiCodexResponses } from "../protocols/index.ts";

export { createAI } from "../entry.ts";

/** Selects a model of the provider `openai-codex`, for `createAI`. Costs a bundle this provider's models and protocols only. */
export const openaiCodex: SelectModel<CatalogModelId<"openai-codex">> = /* @__PURE__ */ defineEntry({
  provider: "openai-codex",
  listed,
  retired: () => retired,
  protocols: { "openai-codex-responses": loadOpenaiCodexResponses },
});
