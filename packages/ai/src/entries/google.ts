// Written by scripts/generate-entries.mjs. Do not edit.
import listed from "#catalog/google.json" with { type: "json" };
import retired from "#catalog/retired/google.json" with { type: "json" };
import type { CatalogModelId } from "../catalog/catalog.ts";
import { defineEntry, type SelectModel } from "../entry.ts";
import { loadGoogleGenerativeAi } from "../protocols/index.ts";

export { createAI } from "../entry.ts";

/** Selects a model of the provider `google`, for `createAI`. Costs a bundle this provider's models and protocols only. */
export const google: SelectModel<CatalogModelId<"google">> = /* @__PURE__ */ defineEntry({
  provider: "google",
  listed,
  retired: () => retired,
  protocols: { "google-generative-ai": loadGoogleGenerativeAi },
});
