export { HarnessError, type HarnessErrorCode } from "./errors.ts";
export {
  buildContext,
  contextEntries,
  type ContextMessage,
  contextMessages,
  type SessionContext,
} from "./session/context.ts";
export type {
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
  SessionEntry,
  SessionHeader,
  SessionInfoEntry,
  SessionNode,
  ThinkingLevelChangeEntry,
  UsageEntry,
} from "./session/entry.ts";
export {
  type BashExecutionMessage,
  type BranchSummaryMessage,
  type CompactionSummaryMessage,
  convertToLlm,
  type CustomMessage,
} from "./session/message.ts";
