// Written by scripts/generate-entries.mjs. Do not edit.
import listed from "#catalog/opencode-go.json" with { type: "json" };
import retired from "#catalog/retired/opencode-go.json" with { type: "json" };
import type { CatalogModelId } from "../catalog/catalog.ts";
import { defineEntry, type SelectModel } from "../entry.ts";
import {
  loadAnthropicMessages,
  loadGoogleGenerativeAi,
  loadOpenaiCompletions,
  loadOpenaiResponses,
} from "../protocols/index.ts";

export { createAI } from "../entry.ts";

/** Selects a model of the provider `opencode-go`, for `createAI`. Costs a bundle this provider's models and protocols only. */
export const opencodeGo: SelectModel<CatalogModelId<"opencode-go">> = /* @__PURE__ */ defineEntry({
  provider: "opencode-go",
  listed,
  retired: () => retired,
  protocols: {
    "anthropic-messages": loadAnthropicMessages,
    "google-generative-ai": loadGoogleGenerativeAi,
    "openai-completions": loadOpenaiCompletions,
    "openai-responses": loadOpenaiResponses,
  },
});
