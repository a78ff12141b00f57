// Written by scripts/generate-entries.mjs. Do not edit.
import listed from "#catalog/opencode.json" with { type: "json" };
import retired from "#catalog/retired/opencode.json" with { type: "json" };
import type { CatalogModelId } from "../catalog/catalog.ts";
import { defineEntry, type SelectModel } from "../entry.ts";
import {
  loadAnthropicMessages,
  loadGoogleGenerativeAi,
  loadOpenaiCompletions,
  loadOpenaiResponses,
} from "../protocols/index.ts";

export { createAI } from "../entry.ts";

/** Selects a model of the provider `opencode`, for `createAI`. Costs a bundle this provider's models and protocols only. */
export const opencode: SelectModel<CatalogModelId<"opencode">> = /* @__PURE__ */ defineEntry({
  provider: "opencode",
  listed,
  retired: () => retired,
  protocols: {
    "anthropic-messages": loadAnthropicMessages,
    "google-generative-ai": loadGoogleGenerativeAi,
    "openai-completions": loadOpenaiCompletions,
    "openai-responses": loadOpenaiResponses,
  },
});
