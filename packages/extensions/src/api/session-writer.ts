/** A new session that an extension fills before it begins. Names are those of pi's session manager. */
import type { AgentMessage } from "@tau/agent";
import type { ImageContent, TextContent } from "@tau/ai";
import type { SessionEntry } from "@tau/protocol";

/** Each method that appends resolves with the id of the entry when it is in the log. */
export interface SessionWriter {
  getCwd(): string;
  getSessionId(): string;
  getSessionFile(): string | undefined;
  getLeafId(): string | null;
  getEntries(): Promise<SessionEntry[]>;
  appendMessage(message: AgentMessage): Promise<string>;
  appendModelChange(provider: string, modelId: string): Promise<string>;
  appendThinkingLevelChange(thinkingLevel: string): Promise<string>;
  appendCustomEntry(customType: string, data?: unknown): Promise<string>;
  appendCustomMessageEntry(
    customType: string,
    content: string | (TextContent | ImageContent)[],
    display: boolean,
    details?: unknown,
  ): Promise<string>;
  appendSessionInfo(name: string): Promise<string>;
  appendLabelChange(targetId: string, label: string | undefined): Promise<string>;
}
