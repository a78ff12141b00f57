/**
 * The lines of a session's log: pi's format, version 3, with a few fields of ours. Logs written by other programs may
 * hold types and fields that are not listed here; they are kept as they are.
 */
import type { ImageContent, TextContent, Usage } from "@tau/ai";
import type { Approval } from "./approval.ts";
import type { SessionMessage } from "./message.ts";

/** The first line. */
export interface SessionHeader {
  type: "session";
  /** 1 when it is missing. */
  version?: number;
  id: string;
  /** ISO 8601. */
  timestamp: string;
  cwd: string;
  /** The file of the session that this one came from. */
  parentSession?: string;
  /** The session that this one came from. */
  parentId?: string | null;
  /** The entry of that session from which this one continues. */
  branchPoint?: string | null;
  /** The named agent that the session uses. */
  agent?: string;
  /** A profile of the policy that the session was created with. It makes the policy stricter, wherever it is opened. */
  policy?: string;
}

/** Fields of every line but the first. */
export interface EntryBase {
  type: string;
  /** Eight hex digits, unique in its file; other writers may use other strings. */
  id: string;
  /** The entry before it; null for a root. */
  parentId: string | null;
  /** ISO 8601. */
  timestamp: string;
}

export interface MessageEntry extends EntryBase {
  type: "message";
  message: SessionMessage;
  /**
   * Set when the message was queued first: the `queueId` of its `accepted` entry. Also set when whoever submitted the
   * message gave it an id, so that it can be found again after a crash.
   */
  queueId?: string;
  /** Surfaces do not show the answer. */
  silent?: boolean;
  /** The selected model, if another one answered in its place. */
  selected?: { provider: string; modelId: string };
}

export interface ModelChangeEntry extends EntryBase {
  type: "model_change";
  provider: string;
  modelId: string;
  /** The role that was chosen, without its mark. Absent if a model was named. */
  role?: string;
  /** Why it changed, if nobody chose it. */
  reason?: string;
  /** Whether it is used only until the end of the run: then an entry names the model from before again. */
  forRun?: true;
}

export interface ThinkingLevelChangeEntry extends EntryBase {
  type: "thinking_level_change";
  thinkingLevel: string;
}

/** A person chose how much the session does without a question. When it is opened again, this can only make it stricter. */
export interface PermissionModeEntry extends EntryBase {
  type: "permission_mode";
  mode: string;
}

/** For the model, `summary` replaces everything on the branch before `firstKeptEntryId`. */
export interface CompactionEntry<TDetails = unknown> extends EntryBase {
  type: "compaction";
  summary: string;
  /** The compaction's own id when nothing was kept. */
  firstKeptEntryId: string;
  tokensBefore: number;
  details?: TDetails;
  /** Usage of the summary. */
  usage?: Usage;
}

/** A summary of the branch that ended in `fromId`. */
export interface BranchSummaryEntry<TDetails = unknown> extends EntryBase {
  type: "branch_summary";
  fromId: string;
  summary: string;
  details?: TDetails;
  usage?: Usage;
}

/** State of an extension, or of tau itself. The model never sees it. */
export interface CustomEntry<TData = unknown> extends EntryBase {
  type: "custom";
  customType: string;
  data?: TData;
}

/** A message of an extension to the model. */
export interface CustomMessageEntry<TDetails = unknown> extends EntryBase {
  type: "custom_message";
  customType: string;
  content: string | (TextContent | ImageContent)[];
  display: boolean;
  details?: TDetails;
}

/** A bookmark; without `label` it is removed. */
export interface LabelEntry extends EntryBase {
  type: "label";
  targetId: string;
  label?: string;
}

export interface SessionInfoEntry extends EntryBase {
  type: "session_info";
  name?: string;
}

/** Tokens spent on something other than an answer, such as a child session or keeping a cache warm. */
export interface UsageEntry extends EntryBase {
  type: "usage";
  kind: string;
  provider: string;
  model: string;
  usage: Usage;
}

/** Hides one entry from the model (null), or shows it other content. The log keeps the original. */
export interface ContextEditEntry extends EntryBase {
  type: "context_edit";
  targetId: string;
  replacement: { content: string | (TextContent | ImageContent)[] } | null;
}

/**
 * A message that was accepted while the session was busy. It has exactly one outcome: a message entry with its
 * `queueId`, or a `DroppedEntry`.
 */
export interface AcceptedEntry extends EntryBase {
  type: "queue";
  queueId: string;
  state: "accepted";
  kind: "steer" | "followUp";
  content: string | (TextContent | ImageContent)[];
}

/** A queued message that will not be sent. */
export interface DroppedEntry extends EntryBase {
  type: "queue";
  queueId: string;
  /** `cancelled` by the user, or `refused` because the session ended. */
  state: "cancelled" | "refused";
  reason: string;
}

/** The beginning of requests from here on. A later process compares with it to find out whether a provider's cache still holds. */
export interface PrefixEntry extends EntryBase {
  type: "prefix";
  model: string;
  tools: readonly PrefixPart[];
  sections: readonly PrefixPart[];
}

export interface PrefixPart {
  name: string;
  hash: number;
}

export type QueueEntry = AcceptedEntry | DroppedEntry;

export type SessionEntry =
  | MessageEntry
  | ModelChangeEntry
  | ThinkingLevelChangeEntry
  | PermissionModeEntry
  | CompactionEntry
  | BranchSummaryEntry
  | CustomEntry
  | CustomMessageEntry
  | LabelEntry
  | SessionInfoEntry
  | UsageEntry
  | ContextEditEntry
  | AcceptedEntry
  | DroppedEntry
  | PrefixEntry;

/** Types of the `custom` entries that tau itself writes. */
export const customTypes = {
  /** The user ran a command while a run was in progress. Its message follows when the run is over. `data` is the message. */
  bashRan: "tau.bash_ran",
  /**
   * A tool is about to be executed; without its result its outcome is unknown. `data` is `{ toolCallId, toolName }`, and
   * `parentToolCallId` if another tool made the call.
   */
  callStarted: "tau.call_started",
  /**
   * A call waits for the answer to a question that outlives its run. `data` is an `AskedData`. Answers are not in the log, and whether
   * the question is still open is not either.
   */
  asked: "tau.asked",
  /** A decision of the policy, for audits. */
  decision: "tau.decision",
  /** A run that a crash had cut was closed. `data` is `{ terminationReason }`. */
  runEnded: "tau.run_ended",
  /** A call that a tool made has ended. `data` is a `NestedCall`. */
  nestedCall: "tau.nested_call",
  /** Requests use another model or key from here on. `data` is a `ModelUse`. */
  modelUsed: "tau.model_used",
  /** The leaf moved to the entry before this one. */
  navigated: "tau.navigated",
  /** The session was deleted, or restored. `data` is `{ isDeleted }`. Only the last entry of a log says what applies. */
  deleted: "tau.deleted",
  /** Text that neither the user nor the project wrote came in. `data` is `{ source, detail }`. */
  tainted: "tau.tainted",
} as const;

/** The data of an entry `tau.asked`. */
export interface AskedData {
  toolCallId: string;
  approval: Approval;
}

/** A call that a tool made while it was executed. The model does not see it: it sees the result of that tool. */
export interface NestedCall {
  toolCallId: string;
  toolName: string;
  /** The call of the tool that made it. */
  parentToolCallId: string;
  input: Record<string, unknown>;
  /** The result, limited like that of a call of the model. */
  content: (TextContent | ImageContent)[];
  details?: unknown;
  isError: boolean;
  /** Only of an error; see `tool_execution_end`. */
  errorCode?: string;
}

/** The call that an entry records; undefined for other entries, and for data that another program wrote. */
export function getNestedCall(entry: SessionEntry): NestedCall | undefined {
  if (entry.type !== "custom" || entry.customType !== customTypes.nestedCall) return undefined;
  const call = entry.data as Partial<NestedCall> | null | undefined;
  const isWhole =
    typeof call?.toolCallId === "string" &&
    typeof call.toolName === "string" &&
    typeof call.parentToolCallId === "string" &&
    Array.isArray(call.content);
  return isWhole ? (call as NestedCall) : undefined;
}

/** The entry that the next one hangs on once `entry` was appended: a navigation moves the leaf to its parent. */
export const getLeafAfter = (entry: SessionEntry): string | null =>
  entry.type === "custom" && entry.customType === customTypes.navigated ? entry.parentId : entry.id;

/** The checksum of an earlier line does not apply to a new one. */
export function withoutChecksum<Line extends object>(line: Line): Line {
  if (!("crc" in line)) return line;
  const { crc: _, ...others } = line;
  return others as Line;
}
