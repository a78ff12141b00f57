/** What the model sees of a branch. Pure: a branch in, messages out. */
import type { AgentMessage } from "@tau/agent";
import type { CompactionEntry, ContextEditEntry, SessionEntry } from "./entry.ts";

export interface SessionContext {
  messages: AgentMessage[];
  thinkingLevel: string;
  /** Null when neither a choice nor an answer names one. */
  model: { provider: string; modelId: string } | null;
}

/** A message, and the entry it comes from. */
export interface ContextMessage {
  entry: SessionEntry;
  message: AgentMessage;
}

/**
 * The entries of a branch that count: after a compaction the compaction itself first, then what it kept, then what came
 * after it. Entries that make no message are among them.
 */
export function contextEntries(branch: readonly SessionEntry[]): SessionEntry[] {
  const at = branch.findLastIndex((entry) => entry.type === "compaction");
  if (at < 0) return [...branch];
  const compaction = branch[at] as CompactionEntry;
  const firstKept = branch.findIndex(({ id }) => id === compaction.firstKeptEntryId);
  const kept = firstKept < 0 ? [] : branch.slice(firstKept, at);
  return [compaction, ...kept.filter(({ type }) => type !== "compaction"), ...branch.slice(at + 1)];
}

/** The messages of a branch with where they come from, compactions and context edits applied. */
export function contextMessages(branch: readonly SessionEntry[]): ContextMessage[] {
  const entries = contextEntries(branch);
  const edits = new Map<string, ContextEditEntry>();
  for (const entry of entries) if (entry.type === "context_edit") edits.set(entry.targetId, entry);
  return entries.flatMap((entry) => {
    const message = getEntryMessage(entry);
    const edited = message && edit(message, edits.get(entry.id));
    return edited ? [{ entry, message: edited }] : [];
  });
}

/** What a model is sent, and which model and thinking level are chosen, for a branch. */
export function buildContext(branch: readonly SessionEntry[]): SessionContext {
  const messages = contextMessages(branch).map(({ message }) => message);
  return { messages, ...getSettings(branch) };
}

/** The latest choices on a branch. An answer names the model that gave it. */
export function getSettings(branch: readonly SessionEntry[]): Omit<SessionContext, "messages"> {
  let thinkingLevel: string | undefined;
  let model: SessionContext["model"] | undefined;
  for (let at = branch.length - 1; at >= 0 && !(thinkingLevel !== undefined && model); at--) {
    const entry = branch[at]!;
    if (entry.type === "thinking_level_change") thinkingLevel ??= entry.thinkingLevel;
    model ??= modelIn(entry);
  }
  return { thinkingLevel: thinkingLevel ?? "off", model: model ?? null };
}

function modelIn(entry: SessionEntry): { provider: string; modelId: string } | undefined {
  if (entry.type === "model_change") return { provider: entry.provider, modelId: entry.modelId };
  if (entry.type !== "message" || entry.message?.role !== "assistant") return undefined;
  return { provider: entry.message.provider, modelId: entry.message.model };
}

/** The message that an entry is for the model; undefined for one that only keeps state. */
function getEntryMessage(entry: SessionEntry): AgentMessage | undefined {
  const timestamp = typeof entry.timestamp === "string" ? Date.parse(entry.timestamp) || 0 : 0;
  switch (entry.type) {
    case "message":
      return withContent(entry.message);
    case "custom_message": {
      const { customType, content = [], display, details } = entry;
      return { role: "custom", customType, content, display, ...(details !== undefined && { details }), timestamp };
    }
    case "branch_summary":
      return entry.summary
        ? { role: "branchSummary", summary: entry.summary, fromId: entry.fromId, timestamp }
        : undefined;
    case "compaction":
      return { role: "compactionSummary", summary: entry.summary, tokensBefore: entry.tokensBefore, timestamp };
    default:
      return undefined;
  }
}

/** Logs are read without being checked: one edited by hand, or by an old version, may lack what every message has. */
function withContent(message: AgentMessage | undefined): AgentMessage | undefined {
  if (!message || typeof message !== "object") return undefined;
  const isLlm = message.role === "user" || message.role === "assistant" || message.role === "toolResult";
  return isLlm && (message.content ?? undefined) === undefined ? { ...message, content: [] } : message;
}

function edit(message: AgentMessage, edit: ContextEditEntry | undefined): AgentMessage | undefined {
  if (!edit) return message;
  if (edit.replacement === null) return undefined;
  const content = edit.replacement?.content;
  if (content === undefined) return message;
  switch (message.role) {
    case "assistant":
    case "toolResult":
      return {
        ...message,
        content: typeof content === "string" ? [{ type: "text", text: content }] : content,
      } as AgentMessage;
    case "user":
    case "custom":
      return { ...message, content };
    case "bashExecution":
    case "branchSummary":
    case "compactionSummary":
      // They have no content of their own to be replaced, so they become what a model would have seen of them.
      return { role: "user", content, timestamp: message.timestamp };
    default:
      return message;
  }
}
