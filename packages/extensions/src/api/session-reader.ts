/** A session to be read at once, without waiting. Names are those of pi's read-only session manager. */
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
  buildSessionContext(): {
    messages: AgentMessage[];
    thinkingLevel: string;
    model: { provider: string; modelId: string } | null;
  };
}
