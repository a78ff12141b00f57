export {
  type Approval,
  type ApprovalAnswer,
  type ApprovalChoice,
  approvalChoices,
  type OfferedChoice,
} from "./approval.ts";
export {
  type Command,
  type CommandData,
  type CommandName,
  commandNames,
  type CommandParams,
  type Commands,
  commandScopes,
  type ExportPart,
  exportParts,
  type Disposition,
  isCommandName,
  type Scope,
} from "./command.ts";
export type {
  AnswerData,
  AddedDirectoryData,
  BashData,
  BudgetLeftData,
  CompactionData,
  CompletionData,
  ModelData,
  RoleData,
  PolicyData,
  PromptEnd,
  QueueModeName,
  SandboxData,
  SearchData,
  SearchHitData,
  SearchParams,
  SessionSummaryData,
  SlashCommandData,
  ProviderData,
  SettingData,
  StateData,
  StatsData,
  ThinkingLevelName,
  ToolData,
  TreeNodeData,
  ResultView,
  TrustData,
  TrustDifference,
  UndoData,
} from "./command-data.ts";
export {
  type AcceptedEntry,
  type BranchSummaryEntry,
  type CompactionEntry,
  type ContextEditEntry,
  type CustomEntry,
  type CustomMessageEntry,
  type AskedData,
  customTypes,
  getNestedCall,
  type DroppedEntry,
  type EntryBase,
  getLeafAfter,
  type LabelEntry,
  type MessageEntry,
  type NestedCall,
  type ModelChangeEntry,
  type PermissionModeEntry,
  type PrefixEntry,
  type PrefixPart,
  type QueueEntry,
  type SessionEntry,
  type SessionHeader,
  type SessionInfoEntry,
  type ThinkingLevelChangeEntry,
  type UsageEntry,
  withoutChecksum,
} from "./entry.ts";
export {
  type EventEnvelope,
  type EventPosition,
  type NamedEvent,
  nameEvent,
  unwrapEvent,
  type WireEventName,
  wireEventNames,
  wrapEvent,
} from "./envelope.ts";
export type {
  Delta,
  CompactionReason,
  CompactionResult,
  LifecycleEvent,
  QueuedMessage,
  QueuedSummary,
  SessionEvent,
  SessionFact,
  UpdateType,
  WireStopReason,
  WireUsage,
} from "./event.ts";
export type { JobData, JobSummary } from "./job.ts";
export {
  defaultPermissionMode,
  findPermissionModeProblem,
  getStricterMode,
  isPermissionMode,
  type PermissionData,
  type PermissionMode,
  permissionModes,
  permissionModeTexts,
  type WritingMode,
} from "./permission-mode.ts";
export type {
  BashExecutionMessage,
  BranchSummaryMessage,
  CompactionSummaryMessage,
  CustomMessage,
  SessionMessage,
} from "./message.ts";
export { formatModelUse, getModelUse, isOtherModel, type ModelUse } from "./model-use.ts";
export { formatRetry, getWithdrawnId, isFailedAnswer, type ScheduledRetry } from "./retry.ts";
export {
  type AbortedBy,
  type BudgetLimitName,
  type RunEnd,
  type Termination,
  type TerminationReason,
  toTermination,
  formatLimit,
  formatLimitName,
  defaultRunMs,
} from "./run-end.ts";
export { isDelta } from "./deltas.ts";
export {
  addOlderEntries,
  emptyView,
  type LiveMessage,
  type LiveTool,
  type LiveView,
  type LogView,
  reduce,
  type StreamedEvent,
  type View,
  viewFromEntries,
  windowSize,
} from "./view.ts";
export { getTypedContent, type TypedContent } from "./typed-content.ts";
export { ViewTracker } from "./view-tracker.ts";
export { emptyUi, type OpenDialog, reduceUi, type ShownUi } from "./shown-ui.ts";
export { createNoteFrame, listUiFrames } from "./ui-frames.ts";
export type { UiAnswer, UiDialog, UiNote } from "./ui-request.ts";
export { HarnessError, type HarnessErrorCode } from "./errors.ts";
export { findMentions, type Mention, mentionStart } from "./mentions.ts";
export {
  type UsageAmounts,
  type UsageGroup,
  noUsage,
  usageGroups,
  type UsageLimit,
  type UsageReport,
  type UsageReportData,
  type UsageReportParams,
  type UsageRow,
} from "./usage-report.ts";
