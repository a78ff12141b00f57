/** The messages of a session: those that models understand, and four kinds of a session's own. Names and fields are pi's. */
import type { ImageContent, Message, TextContent } from "@tau/ai";

/** A command that the user ran (`!cmd`). */
export interface BashExecutionMessage {
  role: "bashExecution";
  command: string;
  output: string;
  /** Undefined when the command was cancelled. */
  exitCode?: number | undefined;
  cancelled: boolean;
  truncated: boolean;
  fullOutputPath?: string;
  /** Not sent to the model (`!!cmd`). */
  excludeFromContext?: boolean;
  timestamp: number;
}

/** A message of an extension to the model. */
export interface CustomMessage<TDetails = unknown> {
  role: "custom";
  customType: string;
  content: string | (TextContent | ImageContent)[];
  /** Whether surfaces show it. */
  display: boolean;
  /** For surfaces; the model never sees it. */
  details?: TDetails;
  timestamp: number;
}

/** Stands for a branch that was left. */
export interface BranchSummaryMessage {
  role: "branchSummary";
  summary: string;
  /** The leaf that was left. */
  fromId: string;
  timestamp: number;
}

/** Stands for everything before the first entry that a compaction kept. */
export interface CompactionSummaryMessage {
  role: "compactionSummary";
  summary: string;
  tokensBefore: number;
  timestamp: number;
}

export type SessionMessage =
  | Message
  | BashExecutionMessage
  | CustomMessage
  | BranchSummaryMessage
  | CompactionSummaryMessage;
