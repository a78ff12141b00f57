/** The model that writes summaries of compactions and branches. */
import type { Model } from "@tau/ai";
import type { ModelRegistry } from "@tau/config/models";
import type { Settings } from "@tau/config/settings";

/** The model of the role `smol`, if it has one that can be used. Undefined: that of the session. */
export function findSummaryModel(
  registry: Pick<ModelRegistry, "getRoles" | "resolve">,
  { smolSummaries }: Pick<Settings, "smolSummaries">,
): Model | undefined {
  if (!smolSummaries || !Object.hasOwn(registry.getRoles(), "smol")) return undefined;
  const resolution = registry.resolve("@smol");
  return resolution.kind === "resolved" && resolution.hasKey && !resolution.isDefault ? resolution.model : undefined;
}
