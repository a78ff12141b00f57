/** Table of the settings that have a getter, and most a setter: `getTheme` and `setTheme` of `Theme`. */
export interface Field {
  path: readonly string[];
  default?: unknown;
  /** Only a getter. */
  isReadOnly?: true;
  min?: number;
  max?: number;
}

const field = (path: string, defaultValue?: unknown): Field => ({ path: path.split("."), default: defaultValue });
const readOnly = (path: string, defaultValue?: unknown): Field => ({ ...field(path, defaultValue), isReadOnly: true });

export const fields = {
  LastChangelogVersion: field("lastChangelogVersion"),
  DefaultProvider: field("defaultProvider"),
  DefaultModel: field("defaultModel"),
  DefaultThinkingLevel: field("defaultThinkingLevel"),
  SteeringMode: field("steeringMode", "one-at-a-time"),
  FollowUpMode: field("followUpMode", "one-at-a-time"),
  ThemeSetting: readOnly("theme"),
  Transport: field("transport", "sse"),
  SessionDir: readOnly("sessionDir"),
  CompactionEnabled: field("compaction.enabled", true),
  CompactionReserveTokens: readOnly("compaction.reserveTokens", 16_384),
  CompactionKeepRecentTokens: readOnly("compaction.keepRecentTokens", 20_000),
  BranchSummarySkipPrompt: readOnly("branchSummary.skipPrompt", false),
  RetryEnabled: field("retry.enabled", true),
  HttpIdleTimeoutMs: field("httpIdleTimeoutMs", 300_000),
  WebSocketConnectTimeoutMs: readOnly("websocketConnectTimeoutMs"),
  CacheWarmingMode: field("cacheWarming", "off"),
  ShowCacheMissNotices: field("showCacheMissNotices", false),
  HideThinkingBlock: field("hideThinkingBlock", false),
  ShellPath: field("shellPath"),
  ShellCommandPrefix: field("shellCommandPrefix"),
  NpmCommand: field("npmCommand"),
  QuietStartup: field("quietStartup", false),
  CollapseChangelog: field("collapseChangelog", false),
  EnableInstallTelemetry: field("enableInstallTelemetry", false),
  EnableAnalytics: field("enableAnalytics", false),
  TrackingId: readOnly("trackingId"),
  SessionShareDestination: field("sessionShareDestination", "auto"),
  Packages: field("packages", []),
  ExtensionPaths: field("extensions", []),
  SkillPaths: field("skills", []),
  PromptTemplatePaths: field("prompts", []),
  ThemePaths: field("themes", []),
  EnableSkillCommands: field("enableSkillCommands", true),
  ThinkingBudgets: readOnly("thinkingBudgets"),
  ShowImages: field("terminal.showImages", true),
  ImageWidthCells: { ...field("terminal.imageWidthCells", 60), min: 1 },
  ShowTerminalProgress: field("terminal.showTerminalProgress", false),
  ClearOnShrink: field("terminal.clearOnShrink", false),
  ImageAutoResize: field("images.autoResize", true),
  BlockImages: field("images.blockImages", false),
  EnabledModels: field("enabledModels"),
  DefaultTools: readOnly("defaultTools"),
  DoubleEscapeAction: field("doubleEscapeAction", "tree"),
  TreeFilterMode: field("treeFilterMode", "default"),
  ExternalEditorCommand: readOnly("externalEditor"),
  ShowHardwareCursor: field("showHardwareCursor", false),
  EditorPaddingX: { ...field("editorPaddingX", 0), min: 0, max: 3 },
  OutputPad: field("outputPad", 1),
  AutocompleteMaxVisible: { ...field("autocompleteMaxVisible", 5), min: 3, max: 20 },
  CodeBlockIndent: readOnly("markdown.codeBlockIndent", "  "),
  MermaidRenderingMode: field("markdown.mermaid", "streaming"),
  TuiMode: field("tuiMode", "regular"),
  FullscreenExitOutput: field("fullscreenExitOutput", "transcript"),
  FullscreenScrollbar: field("fullscreenScrollbar", "auto"),
  FullscreenCopyOnSelect: field("fullscreenCopyOnSelect", true),
  FullscreenWheelScrollLines: field("fullscreenWheelScrollLines", "auto"),
  Warnings: field("warnings", {}),
} as const satisfies Readonly<Record<string, Field>>;

/** Settings that a project can have of its own: `setProjectPackages`. */
export const projectFields = ["Packages", "ExtensionPaths", "SkillPaths", "PromptTemplatePaths", "ThemePaths"] as const;
