import type { SettingsManager } from "./settings-manager.ts";

/** Returns the paths of the user followed by those of a trusted project: resources of both are used. */
export const joinLists = (
  settings: Pick<SettingsManager, "getGiven">,
  name: "skills" | "prompts" | "themes",
): readonly string[] => [...(settings.getGiven("global", name) ?? []), ...(settings.getGiven("project", name) ?? [])];
