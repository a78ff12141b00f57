// Written by scripts/generate-entries.mjs. Do not edit.
import listed from "#catalog/amazon-bedrock.json" with { type: "json" };
import retired from "#catalog/retired/amazon-bedrock.json" with { type: "json" };
import type { CatalogModelId } from "../catalog/catalog.ts";
import { defineEntry, type SelectModel } from "../entry.ts";
import { loadBedrockConverseStream } from "../protocols/index.ts";

export { createAI } from "../entry.ts";

/** Selects a model of the provider `amazon-bedrock`, for `createAI`. Costs a bundle this provider's models and protocols only. */
export const amazonBedrock: SelectModel<CatalogModelId<"amazon-bedrock">> = /* @__PURE__ */ defineEntry({
  provider: "amazon-bedrock",
  listed,
  retired: () => retired,
  protocols: { "bedrock-converse-stream": loadBedrockConverseStream },
});
