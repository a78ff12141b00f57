/** The settings, models, keys and resources that a session uses. */
import { formatFileProblem, type SettingsManager } from "@tau/config/settings";
import type { AuthNotice, AuthStorage } from "@tau/config/auth";
import type { ModelRegistry } from "@tau/config/models";
import type { ResourceLoader } from "@tau/config/resources";

/** Exists before the log of the session is open. */
export interface BaseServices {
  settings: SettingsManager;
  auth: AuthStorage;
  registry: ModelRegistry;
  /** Problems with stored credentials: `early` has those before there is a session, which then takes over `report`. */
  authNotices: { readonly early: readonly AuthNotice[]; report: (notice: AuthNotice) => void };
}

export interface Services extends BaseServices {
  resources: ResourceLoader;
}

/** Formats the problems of resources as notices. */
export const describeResourceProblems = ({ problems }: Pick<ResourceLoader, "problems">) =>
  problems.map((problem) => ({ code: "resources", message: formatFileProblem(problem) }));
