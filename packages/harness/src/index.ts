export { AgentSession, type Notice, type PromptOptions, type SteerOptions } from "./agent-session/agent-session.ts";
export type {
  ApiKeyOutcome,
  AuthStorageOptions,
  CredentialInfo,
  GetApiKeyOptions,
  ModelsKey,
} from "./auth/auth-options.ts";
export { AuthStorage } from "./auth/auth-storage.ts";
export type { ApiKeyCredential, Credential, OAuthCredential } from "./auth/credential.ts";
export type { AuthFailure, AuthFailureKind, AuthNotice } from "./auth/failure.ts";
export type { KeyChain } from "./auth/key-chain.ts";
export type { KeySource } from "./auth/key-choice.ts";
export type { LoginEvent, LoginInteraction } from "./auth/login-interaction.ts";
export { literalKey } from "./auth/key-value.ts";
export { loginMethods, type LoginMethod, type LoginOptions, type LoginOutcome } from "./auth/login.ts";
export { type BrowserLogin, type DeviceLogin, type OAuthProvider, oauthProviders } from "./auth/oauth-providers.ts";
export type { Summariser } from "./compaction/ask.ts";
export {
  type BranchSummaryRequest,
  type BranchSummaryResult,
  collectLeftBranch,
  type LeftBranch,
  summariseBranch,
} from "./compaction/branch-summary.ts";
export { compact, type CompactionOutcome, type CompactRequest, type NewCompaction } from "./compaction/compact.ts";
export type { FileOperations } from "./compaction/files.ts";
export {
  type CompactionPlan,
  type CompactionReason,
  type NothingToCompact,
  planCompaction,
  type PlanResult,
} from "./compaction/plan.ts";
export {
  type CompactionChoices,
  type CompactionSettings,
  type ResolvedCompactionSettings,
  resolveCompactionSettings,
  shouldCompact,
} from "./compaction/settings.ts";
export { contextTokens, estimateTokens } from "./compaction/tokens.ts";
export { createAgent, type CreateAgentOptions, type SimpleAgent } from "./agent-session/create-agent.ts";
export { createAgentSession } from "./agent-session/create-agent-session.ts";
export type { AgentSessionParams } from "./agent-session/params.ts";
export { HarnessError, type HarnessErrorCode } from "./errors.ts";
export { exportHtml, type ExportHtmlOptions } from "./export/html.ts";
export { type ImportedSession, type ImportProblem, importSession } from "./export/import.ts";
export { exportJsonl, type ExportJsonlOptions } from "./export/jsonl.ts";
export { exportMarkdown } from "./export/markdown.ts";
export type { ExportSource } from "./export/source.ts";
export {
  buildContext,
  contextEntries,
  type ContextMessage,
  contextMessages,
  type SessionContext,
} from "./session/context.ts";
export type {
  AcceptedEntry,
  BranchSummaryEntry,
  CompactionEntry,
  ContextEditEntry,
  CustomEntry,
  CustomMessageEntry,
  EntryBase,
  LabelEntry,
  MessageEntry,
  ModelChangeEntry,
  NewEntry,
  QueueEntry,
  SessionEntry,
  SessionHeader,
  SessionInfoEntry,
  SessionNode,
  ThinkingLevelChangeEntry,
  UnsaidEntry,
  UsageEntry,
} from "./session/entry.ts";
export {
  chooseDefault,
  type DefaultChoice,
  type DefaultModel,
  defaultModels,
  defaultProviderOrder,
} from "./models/defaults.ts";
export type { Preference } from "./models/match.ts";
export {
  type CreateModelRegistryOptions,
  type HasKey,
  type InMemoryModelRegistryOptions,
  ModelRegistry,
  type ModelRegistryOptions,
  type RequestHeaders,
  type ResolveValue,
} from "./models/model-registry.ts";
export { describeProblem, type ModelsProblem } from "./models/models-file.ts";
export { type ModelResolution, resolveModel, type ResolvePreference } from "./models/resolve.ts";
export { type ModelScope, type ScopedModel, scopeModels, type ScopeProblem } from "./models/scope.ts";
export { createExpandPort, type ExpandPortOptions } from "./prompt/expand-port.ts";
export {
  type ExpandOptions,
  type ExpandPort,
  expandPrompt,
  type Expansion,
  type Mentioned,
  type SkillText,
} from "./prompt/expand.ts";
export {
  buildSystemPrompt,
  formatDate,
  firstDifference,
  type PromptSection,
  type SystemPrompt,
  type SystemPromptInput,
} from "./prompt/system-prompt.ts";
export type { TextFile } from "./resources/context-files.ts";
export { listNamedAgents, loadNamedAgent, type NamedAgent, type NamedAgentOptions } from "./resources/named-agent.ts";
export type { ResourceProblem, ResourceProblemKind } from "./resources/problem.ts";
export type { PromptTemplate } from "./resources/prompt-templates.ts";
export {
  createResourceLoader,
  type ResourceLoader,
  type ResourceLoaderOptions,
  type ResourceName,
  type Resources,
} from "./resources/resource-loader.ts";
export type { Skill } from "./resources/skills.ts";
export type { ToolChoice, ToolChoices } from "./resources/tools-yaml.ts";
export type { DebugLog, DebugLogOptions } from "./observe/debug-log.ts";
export { createDebugLog } from "./observe/debug-log.ts";
export { findTracer } from "./observe/opentelemetry.ts";
export type { RequestSpan, RunSpan, ToolSpan, Tracer } from "./observe/trace.ts";
export type {
  ChannelBinding,
  DroppedTool,
  GivenTool,
  InputSchemaContext,
  InputSchemaTool,
  PipelineTool,
} from "./pipeline/layer.ts";
export { createDefaultPolicy } from "./policy/default-policy.ts";
export type { PathRules } from "./policy/paths.ts";
export {
  type Answer,
  type Ask,
  type Audit,
  capabilities,
  type Capability,
  type Decide,
  type Decision,
  type PolicyRequest,
  type Question,
  type Subject,
  type Target,
  type Verdict,
} from "./policy/policy.ts";
export type { AskChoice } from "./agent-session/approvals.ts";
export type { BashResult } from "./agent-session/bash.ts";
export { Budget, type BudgetLimit, type BudgetLimits, createBudget } from "./budget/budget.ts";
export type { AgentSessionEvent } from "./agent-session/publisher.ts";
export { recordRuns } from "./run/record.ts";
export type { RunOutcome } from "./run/run.ts";
export { isSilent } from "./run/silent.ts";
export type { ContextUse, SessionStats } from "./agent-session/stats.ts";
export type { SessionOverrides } from "./agent-session/choices.ts";
export type { PromptContent } from "./agent-session/content.ts";
export type { PromptOutcome } from "./agent-session/work.ts";
export type { Durability } from "./session/append-queue.ts";
export type { ListOptions, ListProgress } from "./session/catalogue.ts";
export type { SessionTreeNode } from "./session/branch.ts";
export { createFileStore, type FileStoreOptions } from "./session/file-store.ts";
export type { ReadOnly } from "./session/log.ts";
export { createMemoryStore, MemoryLog, type MemoryStoreOptions } from "./session/memory-store.ts";
export {
  type BashExecutionMessage,
  type BranchSummaryMessage,
  type CompactionSummaryMessage,
  convertToLlm,
  type CustomMessage,
} from "./session/message.ts";
export { recover, type Recovered } from "./session/recover.ts";
export type { ProblemKind, SessionProblem } from "./session/scan.ts";
export { Session, type SummaryExtras } from "./session/session.ts";
export { defaultAgentDir } from "./agent-dir.ts";
export { isSessionId, sessionDirectory, sessionFileName } from "./session/session-directory.ts";
export type { SessionInfo } from "./session/session-info.ts";
export { type NewSession, SessionManager, type SessionManagerOptions } from "./session/session-manager.ts";
export type { AppendOutcome, LogStore } from "./session/store.ts";
export type { UnfinishedCall } from "./session/unfinished-calls.ts";
export { settingsReference, settingsSchema } from "./settings/reference.ts";
export type { Settings, SettingsInput } from "./settings/schema.ts";
export {
  type SettingsChange,
  type SettingsListener,
  SettingsManager,
  type SettingsManagerOptions,
} from "./settings/settings-manager.ts";
export { formatSettingsProblem, type SettingsProblem, type SettingsScope } from "./settings/standing.ts";
