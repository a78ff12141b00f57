/** The entries of a session's log. Their types are part of the protocol, because surfaces show them too. */
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
  getNestedCall,
  type LabelEntry,
  type MessageEntry,
  type ModelChangeEntry,
  type NestedCall,
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

/** Whether a parsed line is the header of a session, of any version. Other programs write lines with a `type` too. */
export const isHeader = (line: Readonly<Record<string, unknown>>): boolean =>
  line["type"] === "session" &&
  typeof line["id"] === "string" &&
  typeof line["timestamp"] === "string" &&
  typeof (line["cwd"] ?? "") === "string";

/** An entry to be appended: the session sets its id, its parent and its time. */
export type NewEntry = Draft<Exclude<SessionEntry, MessageEntry>> | NewMessageEntry;
type Draft<Entry> = Entry extends EntryBase ? Omit<Entry, "id" | "parentId" | "timestamp"> : never;
/** Includes the messages that applications add through `CustomAgentMessages`. */
type NewMessageEntry = Omit<Draft<MessageEntry>, "message"> & { message: AgentMessage };

export interface SessionNode {
  id: string;
  /** The session that it was branched or forked from. */
  parentId: string | null;
  /** The entry of the parent session that it continues from. */
  branchPoint: string | null;
  /** Milliseconds since the epoch. */
  createdAt: number;
  lastActiveAt: number;
}
