/** Sessions: their logs, their trees and their compaction. */
export { addUsage } from "../budget/usage.ts";
export type { Summariser } from "../compaction/ask.ts";
export {
  type BranchSummaryRequest,
  type BranchSummaryResult,
  collectLeftBranch,
  type LeftBranch,
  summariseBranch,
} from "../compaction/branch-summary.ts";
export { compact, type CompactionOutcome, type CompactRequest, type NewCompaction } from "../compaction/compact.ts";
export type { FileOperations } from "../compaction/files.ts";
export {
  type CompactionPlan,
  type CompactionReason,
  type NothingToCompact,
  planCompaction,
  type PlanResult,
} from "../compaction/plan.ts";
export {
  type CompactionChoices,
  type CompactionSettings,
  resolveCompactionSettings,
  type ResolvedCompactionSettings,
  shouldCompact,
  summaryTokens,
} from "../compaction/settings.ts";
export { summarise, type SummaryResult, type SummaryTask } from "../compaction/summarise.ts";
export { contextTokens, estimateTokens } from "../compaction/tokens.ts";
export type { Durability } from "./append-queue.ts";
export type { UsageCell } from "../usage/count-usage.ts";
export { getUsage, type GetUsageOptions } from "../usage/get-usage.ts";
export { parseDay } from "../usage/days.ts";
export { reportUsage, type ReportUsageOptions } from "../usage/report-usage.ts";
export type { BranchPage, BranchPageOptions, QueuedState, SessionTreeNode } from "./branch.ts";
export type { ListOptions, ListProgress } from "./list-sessions.ts";
export {
  buildContext,
  contextEntries,
  type ContextMessage,
  contextMessages,
  getChoices,
  type SessionContext,
} from "./context.ts";
export { createMigration, getVersion } from "./migrate.ts";
export type {
  AcceptedEntry,
  BranchSummaryEntry,
  CompactionEntry,
  ContextEditEntry,
  CustomEntry,
  CustomMessageEntry,
  DroppedEntry,
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
  UsageEntry,
} from "./entry.ts";
export {
  type AcquireOutcome,
  type AppendOutcome,
  createFileStore,
  createMemoryStorage,
  createMemoryStore,
  type FileStoreOptions,
  getLogId,
  type LogBusy,
  type LogCollection,
  type LogHolder,
  type LogKey,
  type LogStore,
  mustBeBlobName,
  splitLines,
  MemoryLog,
  type MemoryStoreOptions,
  type RemoveOutcome,
  type Storage,
  type StoredLog,
} from "@tau/tools/storage";
export { createFileStorage, type FileStorageOptions } from "./file-storage.ts";
export { encodeLine, readChecksum } from "./line.ts";
export {
  findSession,
  mustBeInSessionDirectory,
  mustBeSession,
  pickSession,
  type SessionLookup,
} from "./find-session.ts";
export { getWorkingDirectory } from "./working-directory.ts";
export type { ReadOnly } from "./read-only.ts";
export { convertToLlm } from "./message.ts";
export { isSession, recover, type Recovered } from "./recover.ts";
export type { ProblemKind, SessionProblem } from "./scan.ts";
export {
  idInFileName,
  isSessionFile,
  isSessionId,
  sessionDirectory,
  sessionFileName,
  sessionsRoot,
} from "./session-directory.ts";
export { compareSessions, filterSessions, type SessionFilter } from "./filter-sessions.ts";
export type { SessionInfo } from "./session-info.ts";
export type { TranscriptMessage } from "./message-ids.ts";
export { type LoadedSession, type NewSession, SessionManager, type SessionManagerOptions } from "./session-manager.ts";
export { Session, type SummaryExtras } from "./session.ts";
export { type MovedSession, removeSession, restoreSession, trashSession } from "./trash.ts";
export { StoredSessions } from "./stored-sessions.ts";
export { findLog, isStored, toSessionKey } from "./stored-session.ts";
export { sumUsage } from "./usage-since.ts";
export type { UnfinishedCall } from "./unfinished-calls.ts";
