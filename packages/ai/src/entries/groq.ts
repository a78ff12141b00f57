// Written by scripts/generate-entries.mjs. Do not edit.
import listed from "#catalog/groq.json" with { type: "json" };
import retired from "#catalog/retired/groq.json" with { type: "json" };
import type { CatalogModelId } from "../catalog/catalog.ts";
import { defineEntry, type SelectModel } from "../entry.ts";
import { loadOpenaiCompletions } from "../protocols/index.ts";

export { createAI } from "../entry.ts";

/** Selects a model of the provider `groq`, for `createAI`. Costs a bundle this provider's models and protocols only. */
export const groq: SelectModel<CatalogModelId<"groq">> = /* @__PURE__ */ defineEntry({
  provider: "groq",
  listed,
  retired: () => retired,
  protocols: { "openai-completions": loadOpenaiCompletions },
});
