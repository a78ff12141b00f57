// Written by scripts/generate-entries.mjs. Do not edit.
import listed from "#catalog/google-vertex.json" with { type: "json" };
import retired from "#catalog/retired/google-vertex.json" with { type: "json" };
import type { CatalogModelId } from "../catalog/catalog.ts";
import { defineEntry, type SelectModel } from "../entry.ts";
import { loadGoogleVertex } from "../protocols/index.ts";

export { createAI } from "../entry.ts";

/** Selects a model of the provider `google-vertex`, for `createAI`. Costs a bundle this provider's models and protocols only. */
export const googleVertex: SelectModel<CatalogModelId<"google-vertex">> = /* @__PURE__ */ defineEntry({
  provider: "google-vertex",
  listed,
  retired: () => retired,
  protocols: { "google-vertex": loadGoogleVertex },
});
