/** Shared with `@tau/pi-sdk`; users do not need it. It may change in any version. */
export { Agent } from "../pi-agent-core.ts";
export { getDefaultStreamFn } from "../pi-agent-core/default-stream.ts";
export { contentText } from "../pi-ai/content.ts";
export { lazyStream } from "../pi-ai/lazy.ts";
export {
  getOAuthProvider,
  getOAuthProviders,
  type OAuthProvider,
  registerOAuthProvider,
  resetOAuthProviders,
  unregisterOAuthProvider,
} from "../pi-ai/oauth.ts";
export { isRetryableAssistantError } from "../pi-ai/retry.ts";
export { registerApiProvider, stream, streamSimple } from "../pi-ai/streams.ts";
export { supportsXhigh } from "../pi-ai/thinking.ts";
export { getCurrentSystemPrompt } from "../pi-ai/transcript.ts";
export {
  type BranchSummaryOptions,
  collectEntriesForBranchSummary,
  generateBranchSummary,
} from "../pi-coding-agent/compaction/branch-summary.ts";
export { type CompactionResult, summarizePreparation } from "../pi-coding-agent/compaction/compact.ts";
export { hasMessages, prepareAnyCompaction } from "../pi-coding-agent/compaction/prepare.ts";
export {
  calculateContextTokens,
  type CompactionSettings,
  estimateContextTokens,
  shouldCompact,
} from "../pi-coding-agent/compaction/tokens.ts";
export { CONFIG_DIR_NAME, getAgentDir } from "../pi-coding-agent/config.ts";
export { expandHome } from "../pi-coding-agent/expand-home.ts";
export { replaceFile } from "../pi-coding-agent/replace-file.ts";
export { getLatestCompactionEntry } from "../pi-coding-agent/session/entries.ts";
export { SessionManager } from "../pi-coding-agent/session/session-manager.ts";
export type { ResourceDiagnostic } from "../pi-coding-agent/skills/diagnostics.ts";
export { formatSkillsForPrompt } from "../pi-coding-agent/skills/format-skills.ts";
export { parseFrontmatter, stripFrontmatter } from "../pi-coding-agent/skills/frontmatter.ts";
export { findSkillFiles, loadSkills } from "../pi-coding-agent/skills/load-skills.ts";
export type { Skill } from "../pi-coding-agent/skills/skill.ts";
export { createSyntheticSourceInfo } from "../pi-coding-agent/source-info.ts";
export { toError } from "../pi-coding-agent/to-error.ts";
export { type BashOperations, createLocalBashOperations } from "../pi-coding-agent/tools/bash-operations.ts";
export { createAllTools, type ToolsOptions } from "../pi-coding-agent/tools/collections.ts";
export { CommandOutput } from "../pi-coding-agent/tools/command-output.ts";
export { tryRead } from "../pi-coding-agent/try-read.ts";
