/** The events of a session as pi's clients know them: the engine's names and fields, with deltas alone. */
import type { AgentEvent } from "@tau/agent";
import type { AssistantMessageEvent } from "@tau/ai";
import type { AgentSessionEvent } from "@tau/harness";
import { formatNothingToCompact, getMessageText } from "@tau/harness/host";
import type { CompactionEntry, CompactionResult, QueuedMessage, SessionEntry, SessionEvent } from "@tau/protocol";

export type PiRecord = { type: string; [field: string]: unknown };

type RunEnd = Extract<SessionEvent, { type: "agent_end" }>;

/**
 * Remembers what pi tells in two events and a session in one. The end of a run is held back until `settle`: a client
 * that hears of it may prompt at once, and must not be told that the run goes on.
 */
export class PiEvents {
  readonly #send: (record: PiRecord) => void;
  #ended: PiRecord | undefined;
  #settled: PiRecord | undefined;
  #retry: number | undefined;
  #failure: string | undefined;
  #thinkingLevel: string;
  #compaction: CompactionEntry | undefined;

  constructor(send: (record: PiRecord) => void, thinkingLevel: string) {
    this.#send = send;
    this.#thinkingLevel = thinkingLevel;
  }

  take(event: AgentSessionEvent): void {
    switch (event.type) {
      case "agent_start":
        // It goes on with what waited, and so is not settled.
        this.#settled = undefined;
        this.settle();
        return this.#send(event);
      case "agent_end":
        this.#ended = { ...event, willRetry: false };
        return;
      case "message_update":
        return this.#send(toUpdate(event));
      case "message_end":
        this.#send(event);
        return this.#endRetry(event);
      case "queue_changed":
        return this.#send({ type: "queue_update", ...toQueue(event) });
      case "retry_scheduled": {
        const { attempt, maxAttempts, delayMs, reason } = event;
        this.#retry = attempt;
        return this.#send({ type: "auto_retry_start", attempt, maxAttempts, delayMs, errorMessage: reason });
      }
      case "model_changed":
        return this.#takeModel(event);
      case "entry_appended":
        return this.#takeEntry(event.entry);
      case "compaction_end":
        return this.#send({
          type: "compaction_end",
          reason: event.reason,
          ...this.#toCompactionEnd(event.outcome),
          willRetry: false,
        });
      case "approval_requested":
        // Asked as a question, which is more than an event.
        return;
      default:
        return this.#send(event);
    }
  }

  /** How the run ended, which the engine does not say. */
  takeLifecycle(event: SessionEvent): void {
    if (event.type === "agent_start") this.#failure = undefined;
    if (event.type === "error") this.#failure = event.message;
    if (event.type === "agent_end") this.#takeEnd(event);
  }

  #takeEnd({ terminationReason }: RunEnd): void {
    if (this.#retry !== undefined) {
      const finalError = this.#failure ?? terminationReason;
      this.#send({ type: "auto_retry_end", success: false, attempt: this.#retry, finalError });
      this.#retry = undefined;
    }
    const isAborted = terminationReason === "abort_signal" || terminationReason === "gateway_disconnected";
    this.#settled = { type: "agent_settled", aborted: isAborted };
  }

  /** The session takes prompts again. */
  settle(): void {
    const ends = [this.#ended, this.#settled];
    this.#ended = undefined;
    this.#settled = undefined;
    for (const record of ends) if (record) this.#send(record);
  }

  #endRetry({ message }: Extract<AgentEvent, { type: "message_end" }>): void {
    const isAnswer = message.role === "assistant" && message.stopReason !== "error" && message.stopReason !== "aborted";
    if (this.#retry === undefined || !isAnswer) return;
    this.#send({ type: "auto_retry_end", success: true, attempt: this.#retry });
    this.#retry = undefined;
  }

  #takeModel(event: Extract<SessionEvent, { type: "model_changed" }>): void {
    this.#send(event);
    if (event.thinkingLevel === this.#thinkingLevel) return;
    this.#thinkingLevel = event.thinkingLevel;
    this.#send({ type: "thinking_level_changed", level: event.thinkingLevel });
  }

  /** Messages are told as messages, and not once more as entries; and nobody else has a use for our own notes. */
  #takeEntry(entry: SessionEntry): void {
    if (entry.type === "compaction") this.#compaction = entry;
    if (entry.type === "custom" && !entry.customType.startsWith("tau.")) this.#send({ type: "entry_appended", entry });
    if (entry.type === "session_info") this.#send({ type: "session_info_changed", name: entry.name });
  }

  #toCompactionEnd(outcome: CompactionResult): object {
    const entry = this.#compaction;
    this.#compaction = undefined;
    if (outcome.kind === "aborted") return { aborted: true };
    if (outcome.kind === "failed") return { aborted: false, errorMessage: outcome.message };
    if (outcome.kind === "nothing") return { aborted: false, errorMessage: formatNothingToCompact(outcome.reason) };
    if (!entry) return { aborted: false };
    const { summary, firstKeptEntryId, tokensBefore, usage, details } = entry;
    const { tokensAfter: estimatedTokensAfter } = outcome;
    return {
      aborted: false,
      result: { summary, firstKeptEntryId, tokensBefore, estimatedTokensAfter, usage, details },
    };
  }
}

/** Without what has been said before: a line a delta, and not the whole message each time. */
function toUpdate({ message, assistantMessageEvent }: Extract<AgentEvent, { type: "message_update" }>): PiRecord {
  const usage = message.role === "assistant" ? message.usage : undefined;
  return { type: "message_update", usage, assistantMessageEvent: toDelta(assistantMessageEvent) };
}

function toDelta(event: AssistantMessageEvent): object {
  if (!("partial" in event)) return event;
  const { partial, ...delta } = event;
  if (event.type !== "toolcall_start") return delta;
  const block = partial.content[event.contentIndex];
  return block?.type === "toolCall" ? { ...delta, id: block.id, toolName: block.name } : delta;
}

/** What waits, as words. */
export const toQueue = (queue: { steering: readonly QueuedMessage[]; followUps: readonly QueuedMessage[] }) => ({
  steering: queue.steering.map(getMessageText),
  followUp: queue.followUps.map(getMessageText),
});
