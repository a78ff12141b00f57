/** Builds what the model sees of a branch. */
import type { AgentMessage } from "@tau/agent";
import type { CompactionEntry, ContextEditEntry, ModelChangeEntry, SessionEntry } from "./entry.ts";
import { setMessageId } from "./message-ids.ts";
import { visitInTurns } from "./visit-in-turns.ts";

export interface SessionContext extends SessionChoices {
  messages: AgentMessage[];
}

/** The model and the thinking level that a branch uses. */
export interface SessionChoices {
  /** `off` if no entry names one. */
  thinkingLevel: string;
  /** Whether an entry names the thinking level. */
  hasThinkingLevel: boolean;
  /** Null if neither a model change nor an answer names one. `role` is the role that it was chosen by. */
  model: (ModelName & { role?: string; answeredBy?: ModelName }) | null;
}

/** `answeredBy` of a choice is the model that answered in its place. */
interface ModelName {
  provider: string;
  modelId: string;
}

export interface ContextMessage {
  entry: SessionEntry;
  message: AgentMessage;
}

/**
 * The entries of a branch that the context is made of: the latest compaction, then the entries that it kept, then those
 * after it. Includes entries without a message.
 */
export function contextEntries(branch: readonly SessionEntry[]): SessionEntry[] {
  const index = branch.findLastIndex((entry) => entry.type === "compaction");
  if (index < 0) return [...branch];
  const compaction = branch[index] as CompactionEntry;
  const firstKept = branch.findIndex(({ id }) => id === compaction.firstKeptEntryId);
  const kept = firstKept < 0 ? [] : branch.slice(firstKept, index);
  return [compaction, ...kept.filter(({ type }) => type !== "compaction"), ...branch.slice(index + 1)];
}

/** The messages of a branch and their entries, one after the other. Compactions and context edits are applied. */
export function* iterateContext(branch: readonly SessionEntry[]): Generator<ContextMessage> {
  const entries = contextEntries(branch);
  const edits = new Map<string, ContextEditEntry>();
  for (const entry of entries) if (entry.type === "context_edit") edits.set(entry.targetId, entry);
  for (const entry of entries) {
    const message = getEntryMessage(entry);
    const edited = message && applyEdit(message, edits.get(entry.id));
    if (edited) yield { entry, message: edited };
  }
}

export const contextMessages = (branch: readonly SessionEntry[]): ContextMessage[] => [...iterateContext(branch)];

/** The messages of a branch, and its current model and thinking level. */
export async function buildContext(branch: readonly SessionEntry[]): Promise<SessionContext> {
  const messages: AgentMessage[] = [];
  await visitInTurns(iterateContext(branch), ({ entry, message }) => {
    setMessageId(message, entry.id);
    messages.push(message);
  });
  return { messages, ...getChoices(branch) };
}

/** The latest model and thinking level on a branch. An answer names its model, too. */
export function getChoices(branch: readonly SessionEntry[]): SessionChoices {
  let thinkingLevel: string | undefined;
  let model: SessionChoices["model"] | undefined;
  let change: ModelChangeEntry | undefined;
  for (const entry of branch.toReversed()) {
    if (change && thinkingLevel !== undefined) break;
    if (entry.type === "thinking_level_change") thinkingLevel ??= entry.thinkingLevel;
    if (change) continue;
    // A run that was cut off has not said which model follows it: that is the one from before.
    if (entry.type === "model_change" && entry.forRun) model = undefined;
    else model ??= getModel(entry);
    if (entry.type === "model_change" && !entry.forRun) change = entry;
  }
  const hasThinkingLevel = thinkingLevel !== undefined;
  const isSame = change?.provider === model?.provider && change?.modelId === model?.modelId;
  // Entries are not validated, so the role may be anything.
  const role = isSame && typeof change?.role === "string" ? change.role : undefined;
  const chosen = model && { ...model, ...(role !== undefined && { role }) };
  return { thinkingLevel: thinkingLevel ?? "off", hasThinkingLevel, model: chosen ?? null };
}

function getModel(entry: SessionEntry): NonNullable<SessionChoices["model"]> | undefined {
  if (entry.type === "model_change") return { provider: entry.provider, modelId: entry.modelId };
  if (entry.type !== "message" || entry.message?.role !== "assistant") return undefined;
  const answeredBy = { provider: entry.message.provider, modelId: entry.message.model };
  const { provider, modelId } = entry.selected ?? {};
  const isReplaced = typeof provider === "string" && typeof modelId === "string";
  return isReplaced ? { provider, modelId, answeredBy } : answeredBy;
}

/** Undefined for an entry that the model does not see. */
function getEntryMessage(entry: SessionEntry): AgentMessage | undefined {
  if (entry.type === "message") return withContent(entry.message);
  const timestamp = typeof entry.timestamp === "string" ? Date.parse(entry.timestamp) || 0 : 0;
  switch (entry.type) {
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

/** Entries are not validated: a message of an old version, or one that was edited by hand, may have no content. */
function withContent(message: AgentMessage | undefined): AgentMessage | undefined {
  if (!message || typeof message !== "object") return undefined;
  const isLlm = message.role === "user" || message.role === "assistant" || message.role === "toolResult";
  return isLlm && (message.content ?? undefined) === undefined ? { ...message, content: [] } : message;
}

function applyEdit(message: AgentMessage, edit: ContextEditEntry | undefined): AgentMessage | undefined {
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
      // These have no content, so the edited message becomes the user message that the model would have seen.
      return { role: "user", content, timestamp: message.timestamp };
    default:
      return message;
  }
}
