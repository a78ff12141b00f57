/** The lines of a session's log: pi's format, version 3, with a few fields of ours. Unknown types and fields are kept. */
import type { AgentMessage } from "@tau/agent";
import type { ImageContent, TextContent, Usage } from "@tau/ai";

export const sessionVersion = 3;

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
  /** The entry of that session from which this one goes on. */
  branchPoint?: string | null;
}

/** What every line but the first has. */
export interface EntryBase {
  type: string;
  /** Eight hex digits, unique in its file; other writers may use other texts. */
  id: string;
  /** The entry before it; null for a root. */
  parentId: string | null;
  /** ISO 8601. */
  timestamp: string;
}

export interface MessageEntry extends EntryBase {
  type: "message";
  message: AgentMessage;
  /** It had waited: the `queueId` of what was accepted. Its outcome is that it was said. */
  queueId?: string;
  /** The answer is one that nobody is to be shown. */
  silent?: boolean;
}

export interface ModelChangeEntry extends EntryBase {
  type: "model_change";
  provider: string;
  modelId: string;
}

export interface ThinkingLevelChangeEntry extends EntryBase {
  type: "thinking_level_change";
  thinkingLevel: string;
}

/** Everything on its branch before `firstKeptEntryId` is replaced by `summary` for the model. */
export interface CompactionEntry<TDetails = unknown> extends EntryBase {
  type: "compaction";
  summary: string;
  /** The compaction's own id when nothing was kept. */
  firstKeptEntryId: string;
  tokensBefore: number;
  details?: TDetails;
  /** What making the summary cost. */
  usage?: Usage;
}

/** What was tried on the branch that ended in `fromId`. */
export interface BranchSummaryEntry<TDetails = unknown> extends EntryBase {
  type: "branch_summary";
  fromId: string;
  summary: string;
  details?: TDetails;
  usage?: Usage;
}

/** What an extension, or tau itself, remembers. The model never sees it. */
export interface CustomEntry<TData = unknown> extends EntryBase {
  type: "custom";
  customType: string;
  data?: TData;
}

/** What an extension says to the model. */
export interface CustomMessageEntry<TDetails = unknown> extends EntryBase {
  type: "custom_message";
  customType: string;
  content: string | (TextContent | ImageContent)[];
  display: boolean;
  details?: TDetails;
}

/** A bookmark; without `label` it is taken away. */
export interface LabelEntry extends EntryBase {
  type: "label";
  targetId: string;
  label?: string;
}

export interface SessionInfoEntry extends EntryBase {
  type: "session_info";
  name?: string;
}

/** What was spent on something that is no answer, such as keeping a cache warm. */
export interface UsageEntry extends EntryBase {
  type: "usage";
  kind: string;
  provider: string;
  model: string;
  usage: Usage;
}

/** Hides one entry from the model (null), or shows it other content. The log keeps what it had. */
export interface ContextEditEntry extends EntryBase {
  type: "context_edit";
  targetId: string;
  replacement: { content: string | (TextContent | ImageContent)[] } | null;
}

/**
 * What a person said while the session was busy, and what became of it. Each that was accepted has one outcome: a message
 * with its `queueId`, or one of the others here.
 */
export interface AcceptedEntry extends EntryBase {
  type: "queue";
  queueId: string;
  state: "accepted";
  kind: "steer" | "followUp";
  content: string | (TextContent | ImageContent)[];
}

export interface UnsaidEntry extends EntryBase {
  type: "queue";
  queueId: string;
  /** `cancelled` by a person, or `refused` because nobody could say it any more. */
  state: "cancelled" | "refused";
  reason: string;
}

/** What requests began with from here on: who goes on later can tell whether a provider's cache still holds. */
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

export type QueueEntry = AcceptedEntry | UnsaidEntry;

export type SessionEntry =
  | MessageEntry
  | ModelChangeEntry
  | ThinkingLevelChangeEntry
  | CompactionEntry
  | BranchSummaryEntry
  | CustomEntry
  | CustomMessageEntry
  | LabelEntry
  | SessionInfoEntry
  | UsageEntry
  | ContextEditEntry
  | AcceptedEntry
  | UnsaidEntry
  | PrefixEntry;

/** An entry that is about to be written: where it goes and when is decided by the log. */
export type NewEntry = Draft<SessionEntry>;
type Draft<Entry> = Entry extends EntryBase ? Omit<Entry, "id" | "parentId" | "timestamp"> : never;

/** Every session, in a file or in memory, answers as one of these. */
export interface SessionNode {
  id: string;
  /** Null for one that came from no other. */
  parentId: string | null;
  /** The entry of the parent from which it goes on; null when it did not branch off. */
  branchPoint: string | null;
  /** Milliseconds since the epoch. */
  createdAt: number;
  lastActiveAt: number;
}

/** What tau itself writes as `custom` entries. */
export const customTypes = {
  /** A call is about to be executed; without its result its outcome is unknown. `data` is `{ toolCallId, toolName }`. */
  callStarted: "tau.call_started",
  /** The person went to the entry before this one. */
  navigated: "tau.navigated",
} as const;
