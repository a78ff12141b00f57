/** The settings of the user and of a project. */
export { defaultAgentDir } from "../files/agent-dir.ts";
export { type FileProblem, formatFileProblem } from "../files/file-problem.ts";
export { hasPackages } from "../installs/has-packages.ts";
export { createPathFilter, type PathFilter } from "../resources/path-filter.ts";
export { type FileText, readTextFile } from "../files/text-file.ts";
export { type FileWatch, watchFiles, type WatchOptions } from "../files/watch-files.ts";
export { nestSetting } from "./nest.ts";
export { ignoredSettings } from "./pi-settings.ts";
export { listProfiles, readProfile } from "./profile.ts";
export { settingsReference, settingsSchema } from "./reference.ts";
export {
  type Fields as SettingFields,
  type Group as SettingGroup,
  type MapOf as SettingMap,
  type Setting as SettingOf,
  group,
  mapSetting,
  setting,
} from "./node.ts";
export { resolveFields } from "./resolve.ts";
export type { RunSettings } from "./run-settings.ts";
export type { ResolvedFields, Settings, SettingsInput, SettingsTable, WithSettings } from "./schema.ts";
export {
  type SettingsChange,
  type SettingsListener,
  SettingsManager,
  type SettingsManagerOptions,
} from "./settings-manager.ts";
export type { SettingsProblem, SettingsScope } from "./file-state.ts";
export { withProxySetting } from "./with-proxy-setting.ts";
