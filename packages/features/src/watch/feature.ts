/** Watch: rules of people that stop an answer in which a pattern is found. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Feature, FeaturePlace } from "@tau/extensions";

/** The directories of rules that count now: the user's, and that of a project that is trusted. */
export const listDirectories = ({
  agentDir,
  cwd,
  settings,
}: Pick<FeaturePlace, "agentDir" | "cwd" | "settings">): string[] => {
  const directories = [join(agentDir, "watch"), ...(settings.isProjectTrusted ? [join(cwd, ".tau", "watch")] : [])];
  // In the home directory both are the same.
  return [...new Set(directories)];
};

/** The feature `watch`. */
export const watch = (): Feature => ({
  name: "watch",
  summary: "Rules of yours that stop an answer in which a pattern is found, and tell the model why.",
  loadsForPrompt: (_prompt, place) => listDirectories(place).some((directory) => existsSync(directory)),
  load: async (place) => (await import("./watch.ts")).createWatchExtension(place),
});
