// Written by scripts/generate-entries.mjs. Do not edit.
import listed from "#catalog/github-copilot.json" with { type: "json" };
import retired from "#catalog/retired/github-copilot.json" with { type: "json" };
import type { CatalogModelId } from "../catalog/catalog.ts";
import { defineEntry, type SelectModel } from "../entry.ts";
import { loadAnthropicMessages, loadOpenaiCompletions, loadOpenaiResponses } from "../protocols/index.ts";

export { createAI } from "../entry.ts";

/** Selects a model of the provider `github-copilot`, for `createAI`. Costs a bundle this provider's models and protocols only. */
export const githubCopilot: SelectModel<CatalogModelId<"github-copilot">> = /* @__PURE__ */ defineEntry({
  provider: "github-copilot",
  listed,
  retired: () => retired,
  protocols: {
    "anthropic-messages": loadAnthropicMessages,
    "openai-completions": loadOpenaiCompletions,
    "openai-responses": loadOpenaiResponses,
  },
});
