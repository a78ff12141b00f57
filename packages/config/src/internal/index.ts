/** Shared by the packages of tau; users do not need it. It may change in any version. */
export { browserLogin } from "../auth/browser-login.ts";
export { keyCommands } from "../auth/key-command.ts";
export { formatLoginCommand } from "../auth/key-hint.ts";
export { resolveKey } from "../auth/key-value.ts";
export { createUsedKeys, removeForms, type UsedKeys } from "../auth/used-keys.ts";
export {
  check,
  createCheck,
  fn,
  hasMethods,
  isFunction,
  param,
  refuseProblems,
  withMethods,
} from "../fields/arguments.ts";
export { decimal, map } from "../fields/kinds.ts";
export { expandHome } from "../files/agent-dir.ts";
export { digestDirectory, digestFile } from "../installs/digest.ts";
export { type Entries, type Entry, findAt, findInDirectory } from "../installs/find-entries.ts";
export { findFile } from "../installs/find-file.ts";
export { findPackagePaths } from "../installs/find-package-paths.ts";
export { findPackage, listGlobalDirectories } from "../installs/find-package.ts";
export { readLocalPackage } from "../installs/local-package.ts";
export { loadManifest } from "../installs/manifest.ts";
export { getKind } from "../installs/read-directory.ts";
export { Availability, getAvailability } from "../models/availability.ts";
export {
  decideAfterFailure,
  findChain,
  getCooldownMs,
  isAboutKey,
  type NextUse,
  pickAvailable,
} from "../models/fallbacks.ts";
export { formatKeyName, listKeys, pickKey } from "../models/key-ring.ts";
export { listPathRoles } from "../models/path-roles.ts";
export { isLocalProvider } from "../models/local-models.ts";
export { agentNameRule, isAgentName } from "../resources/agent-definition.ts";
export { listBuiltInAgents } from "../resources/built-in-agents.ts";
export type { TextFile } from "../resources/context-files.ts";
export { getFirstLine, parseFrontMatter } from "../resources/front-matter.ts";
export { guardResources } from "../resources/guard.ts";
export { changedNames, getToolsFile, listChangedFiles } from "../resources/resources.ts";
export { getReadablePath, readSkill } from "../resources/skills.ts";
export { fillTemplate, splitArguments } from "../resources/template-arguments.ts";
export type { ToolChoice } from "../resources/tools-yaml.ts";
export { createWrittenValues, hideKeys, hideValue } from "../settings/api-keys.ts";
export { checkSettings } from "../settings/check.ts";
export { createSettingsTable } from "../settings/schema.ts";
export { createFileSource } from "../settings/source.ts";
export { describeSettings } from "../settings/describe.ts";
export { getRealPath } from "../settings/locate.ts";
export { findStoredTrust, getTrustState } from "../trust/extension-trust.ts";
export { listCommandFiles } from "../trust/hook-files.ts";
export { createTrustCheck } from "../trust/trust.ts";
export { quoteArgument } from "../resources/template-arguments.ts";
export { enclose, escapeText } from "../resources/enclose.ts";
export { parseJsonDocument } from "../json/document.ts";
export { parseYaml } from "../resources/yaml.ts";
export { editText } from "../json/edit.ts";
export { joinLists } from "../settings/join-lists.ts";
export { isBuiltinEntry, readBuiltinChoices } from "../resources/builtin-entries.ts";
