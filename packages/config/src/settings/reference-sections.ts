/** The sections of the reference page: which settings are explained together. A test compares them with the table. */
import type { SettingsInput } from "./schema.ts";

interface ReferenceSection {
  readonly title: string;
  readonly names: readonly (keyof SettingsInput)[];
}

export const referenceSections: readonly ReferenceSection[] = [
  {
    title: "Models",
    names: [
      "defaultProvider",
      "defaultModel",
      "roles",
      "smolSummaries",
      "defaultThinkingLevel",
      "modelThinkingLevels",
      "enabledModels",
      "thinkingBudgets",
      "images",
    ],
  },
  {
    title: "Requests",
    names: [
      "transport",
      "cacheRetention",
      "serviceTier",
      "httpIdleTimeoutMs",
      "httpProxy",
      "retry",
      "limits",
      "budgets",
    ],
  },
  { title: "Output for programs", names: ["json"] },
  { title: "Context", names: ["compaction", "pruning", "branchSummary", "contextSources"] },
  { title: "Sessions and messages", names: ["steeringMode", "followUpMode", "sessionDir", "durability"] },
  {
    title: "Tools and commands",
    names: ["defaultTools", "tools", "mcp", "additionalDirectories", "shellPath", "shellCommandPrefix", "shellEnv"],
  },
  {
    title: "What is allowed",
    names: ["approvals", "defaultProjectTrust", "policy", "sandbox", "auth", "apiKeys"],
  },
  {
    title: "Extensions, packages, skills and templates",
    names: [
      "extensions",
      "extensionTimeoutMs",
      "packages",
      "packageMinAgeDays",
      "skills",
      "prompts",
      "enableSkillCommands",
      "features",
    ],
  },
  {
    title: "The terminal",
    names: [
      "theme",
      "themes",
      "quietStartup",
      "hideThinkingBlock",
      "showCacheMissNotices",
      "doubleEscapeAction",
      "promptHistory",
      "treeFilterMode",
      "externalEditor",
      "editorMode",
      "editorPaddingX",
      "outputPad",
      "autocompleteMaxVisible",
      "showHardwareCursor",
      "collapseChangelog",
      "tuiMode",
      "fullscreenExitOutput",
      "fullscreenScrollbar",
      "fullscreenCopyOnSelect",
      "fullscreenWheelScrollLines",
      "terminal",
      "statusLine",
      "notify",
      "markdown",
    ],
  },
  { title: "The gateway", names: ["gateway"] },
  { title: "Observing", names: ["otel"] },
];
