import type { SettingsManager } from "../settings/settings-manager.ts";

/** Whether the settings of either scope name a package. Cheap: it is asked at every start, so that most load no more. */
export const hasPackages = (settings: SettingsManager): boolean =>
  (["global", "project"] as const).some((scope) => (settings.getGiven(scope, "packages") ?? []).length > 0);
