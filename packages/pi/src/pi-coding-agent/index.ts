/** pi's module `pi-coding-agent`, without the names that programs embed: `@tau/pi-sdk` has those. */
export { copyToClipboard } from "./clipboard.ts";
export { BorderedLoader } from "./components/bordered-loader.ts";
export { CustomEditor } from "./components/custom-editor.ts";
export { renderDiff } from "./components/diff.ts";
export { DynamicBorder } from "./components/dynamic-border.ts";
export { ExtensionEditorComponent, ExtensionInputComponent } from "./components/extension-dialogs.ts";
export { FooterComponent } from "./components/footer.ts";
export {
  ExtensionSelectorComponent,
  ShowImagesSelectorComponent,
  ThemeSelectorComponent,
  ThinkingSelectorComponent,
  UserMessageSelectorComponent,
} from "./components/selectors.ts";
export { SessionSelectorComponent } from "./components/session-selector.ts";
export { BashExecutionComponent, ToolExecutionComponent } from "./components/tool-execution.ts";
export { TreeSelectorComponent } from "./components/tree-selector.ts";
export { appKey, appKeyHint, editorKey, keyHint, keyText, rawKeyHint } from "./components/key-hints.ts";
export {
  AssistantMessageComponent,
  BranchSummaryMessageComponent,
  CompactionSummaryMessageComponent,
  CustomMessageComponent,
  SkillInvocationMessageComponent,
  UserMessageComponent,
} from "./components/messages.ts";
export { truncateToVisualLines } from "./components/visual-lines.ts";
export { detectSupportedImageMimeTypeFromFile, formatDimensionNote, resizeImage } from "./images.ts";
export { formatSkillsForPrompt } from "./skills/format-skills.ts";
export { parseFrontmatter, stripFrontmatter } from "./skills/frontmatter.ts";
export { loadSkills, loadSkillsFromDir } from "./skills/load-skills.ts";
export type { Skill } from "./skills/skill.ts";
export { parseSkillBlock } from "./skills/skill-block.ts";
export { createSyntheticSourceInfo } from "./source-info.ts";
export { getLanguageFromPath } from "./theme/language.ts";
export { getMarkdownTheme, getSelectListTheme, getSettingsListTheme, highlightCode, initTheme } from "./theme/theme.ts";
export { Theme } from "@tau/tui";
export { createEventBus } from "@tau/extensions";
export { convertToLlm } from "@tau/harness/session";
export {
  collectEntriesForBranchSummary,
  generateBranchSummary,
  prepareBranchEntries,
} from "./compaction/branch-summary.ts";
export { compact, type CompactionResult, generateSummary, generateSummaryWithUsage } from "./compaction/compact.ts";
export { findCutPoint, findTurnStartIndex } from "./compaction/cut-point.ts";
export { prepareCompaction } from "./compaction/prepare.ts";
export { serializeConversation } from "./compaction/serialize.ts";
export {
  calculateContextTokens,
  DEFAULT_COMPACTION_SETTINGS,
  estimateContextTokens,
  estimateTokens,
  getLastAssistantUsage,
  shouldCompact,
} from "./compaction/tokens.ts";
export {
  CONFIG_DIR_NAME,
  getAgentDir,
  getDocsPath,
  getExamplesPath,
  getPackageDir,
  getReadmePath,
  VERSION,
} from "./config.ts";
export {
  defineTool,
  isBashToolResult,
  isEditToolResult,
  isFindToolResult,
  isGrepToolResult,
  isLsToolResult,
  isPowerShellToolResult,
  isReadToolResult,
  isToolCallEventType,
  isWriteToolResult,
} from "./guards.ts";
export * from "./not-built.ts";
export {
  buildContextEntries,
  buildSessionContext,
  buildSessionProjection,
  sessionEntryToContextMessages,
} from "./session/context.ts";
export {
  CURRENT_SESSION_VERSION,
  getLatestCompactionEntry,
  migrateSessionEntries,
  parseSessionEntries,
} from "./session/entries.ts";
export { SessionManager } from "./session/session-manager.ts";
export { getShellConfig } from "./shell-config.ts";
export { createBashTool, createBashTool as createBashToolDefinition } from "./tools/bash.ts";
export { createLocalBashOperations } from "./tools/bash-operations.ts";
export {
  bashTool,
  codingTools,
  createAllTools,
  createCodingTools,
  createReadOnlyTools,
  editTool,
  findTool,
  grepTool,
  lsTool,
  readOnlyTools,
  readTool,
  writeTool,
} from "./tools/collections.ts";
export { generateDiffString, generateUnifiedPatch } from "./tools/diff.ts";
export { createEditTool, createEditTool as createEditToolDefinition } from "./tools/edit.ts";
export { withFileMutationQueue } from "./tools/file-mutation-queue.ts";
export { createFindTool, createFindTool as createFindToolDefinition } from "./tools/find.ts";
export { createGrepTool, createGrepTool as createGrepToolDefinition } from "./tools/grep.ts";
export { createLsTool, createLsTool as createLsToolDefinition } from "./tools/ls.ts";
export { createReadTool, createReadTool as createReadToolDefinition } from "./tools/read.ts";
export { formatReadLineRange } from "./tools/read-line-range.ts";
export {
  DEFAULT_MAX_BYTES,
  DEFAULT_MAX_LINES,
  formatSize,
  truncateHead,
  truncateLine,
  truncateTail,
} from "./tools/truncate.ts";
export { createWriteTool, createWriteTool as createWriteToolDefinition } from "./tools/write.ts";
