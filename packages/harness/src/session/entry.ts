/** The lines of a session's log: the types are part of the protocol, since surfaces show them too. */
import type { AgentMessage } from "@tau/agent";
import type { EntryBase, MessageEntry, SessionEntry } from "@tau/protocol";

export {
  type AcceptedEntry,
  type BranchSummaryEntry,
  type CompactionEntry,
  type ContextEditEntry,
  type CustomEntry,
  type CustomMessageEntry,
  customTypes,
  type DroppedEntry,
  type EntryBase,
  type LabelEntry,
  type MessageEntry,
  type ModelChangeEntry,
  type PrefixEntry,
  type PrefixPart,
  type QueueEntry,
  type SessionEntry,
  type SessionHeader,
  type SessionInfoEntry,
  type ThinkingLevelChangeEntry,
  type UsageEntry,
} from "@tau/protocol";

export const sessionVersion = 3;

/** An entry that is about to be written; the log decides its id, its parent and its time. */
export type NewEntry = Draft<Exclude<SessionEntry, MessageEntry>> | NewMessageEntry;
type Draft<Entry> = Entry extends EntryBase ? Omit<Entry, "id" | "parentId" | "timestamp"> : never;
/** Applications may add messages of their own (see `CustomAgentMessages`); they are written as they are. */
type NewMessageEntry = Omit<Draft<MessageEntry>, "message"> & { message: AgentMessage };

/** What every session, in a file or in memory, can say of itself. */
export interface SessionNode {
  id: string;
  /** Null for a session that came from no other. */
  parentId: string | null;
  /** The entry of the parent from which it continues; null when it did not branch off. */
  branchPoint: string | null;
  /** Milliseconds since the epoch. */
  createdAt: number;
  lastActiveAt: number;
}
