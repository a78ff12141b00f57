/** A session to be read at once, without waiting. Names are those of pi's read-only session manager. */
import type { Message } from "@tau/ai";
import type { LabelEntry, SessionEntry, TreeNodeData } from "@tau/protocol";
import type { AgentMessage } from "@tau/agent";

export interface SessionReader {
  getCwd(): string;
  getSessionDir(): string;
  getSessionId(): string;
  getSessionFile(): string | undefined;
  getSessionName(): string | undefined;
  getLeafId(): string | null;
  getLeafEntry(): SessionEntry | undefined;
  getEntry(id: string): SessionEntry | undefined;
  getLabel(id: string): LabelEntry["label"];
  /** From the root to an entry, by default the leaf. */
  getBranch(fromId?: string): SessionEntry[];
  getHeader(): { id: string; timestamp: string; cwd: string; parentSession?: string } | null;
  getEntries(): SessionEntry[];
  getTree(): TreeNodeData[];
  isPersisted(): boolean;
  /** Lists the entries that the context is made of: the latest compaction, what it kept, and what follows. */
  buildContextEntries(): SessionEntry[];
  /** Like `buildSessionContext`, with the entry that each message comes from. Entries without a message have none. */
  buildSessionProjection(): ReturnType<SessionReader["buildSessionContext"]> & {
    entries: { sourceEntry: SessionEntry; messages: AgentMessage[] }[];
  };
  /** Builds the messages of the context as a model is sent them. */
  buildRequestMessages(): Message[];
  buildSessionContext(): {
    messages: AgentMessage[];
    thinkingLevel: string;
    model: { provider: string; modelId: string } | null;
  };
}
