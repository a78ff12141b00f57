import { allFeatures } from "@tau/features";
import type { SettingsManager } from "@tau/config/settings";
import * as trust from "@tau/config/trust";

/** Opens the settings of tau and of all its features. */
export const openSettings = (options: trust.OpenSettingsOptions): Promise<SettingsManager> =>
  trust.openSettings({ ...options, features: allFeatures });
