/** The events of a session in the form of pi: the names and fields of the engine, with deltas instead of whole messages. */
import type { AgentEvent } from "@tau/agent";
import type { AssistantMessageEvent } from "@tau/ai";
import type { AgentSessionEvent } from "@tau/harness";
import { formatNothingToCompact, getMessageText, type HostedSession } from "@tau/harness/host";
import type { CompactionEntry, CompactionResult, CustomMessageEntry, SessionEntry, SessionEvent } from "@tau/protocol";

/** The limit for the output of a command in its result, in UTF-16 units. */
const maxOutputLength = 50 * 1024;

export type PiRecord = { type: string; [field: string]: unknown };

/**
 * Keeps what pi reports in two events and a session in one. The end of a run is held back until `settle`, because a client
 * may send a prompt as soon as it knows of the end, and the session has to accept it.
 */
export class PiEvents {
  readonly #send: (record: PiRecord) => void;
  #agentEnd: PiRecord | undefined;
  #agentSettled: PiRecord | undefined;
  #retryAttempt: number | undefined;
  #failure: string | undefined;
  #thinkingLevel: string;
  #compaction: CompactionEntry | undefined;
  #isRunning = false;
  /** The output of each running command so far: updates in the form of pi repeat it. */
  readonly #outputs = new Map<string, string>();

  constructor(send: (record: PiRecord) => void, thinkingLevel: string) {
    this.#send = send;
    this.#thinkingLevel = thinkingLevel;
  }

  /** Handles an event of the engine. */
  handle(event: AgentSessionEvent): void {
    switch (event.type) {
      case "agent_start":
        // The run continues with a queued message, so the session is not settled.
        this.#agentSettled = undefined;
        this.settle();
        this.#isRunning = true;
        return this.#send(event);
      case "agent_end":
        this.#agentEnd = { ...event, willRetry: false };
        this.#isRunning = false;
        return;
      case "message_start":
        return this.#send(event.message.role === "assistant" ? withoutContent(event) : event);
      case "tool_execution_update":
        return this.#send(this.#withOutput(event));
      case "tool_execution_end":
        this.#outputs.delete(event.toolCallId);
        return this.#send(event);
      case "message_update":
        return this.#send(toUpdate(event));
      case "message_end":
        this.#send(event);
        return this.#endRetry(event);
      case "queue_changed":
        return this.#send({
          type: "queue_update",
          steering: event.steering.map(getMessageText),
          followUp: event.followUps.map(getMessageText),
        });
      case "retry_scheduled": {
        const { attempt, maxAttempts = attempt, delayMs, reason } = event;
        this.#retryAttempt = attempt;
        return this.#send({ type: "auto_retry_start", attempt, maxAttempts, delayMs, errorMessage: reason });
      }
      case "model_changed":
        return this.#handleModel(event);
      case "model_used":
        return this.#send({ ...event });
      case "entry_appended":
        return this.#handleEntry(event.entry);
      case "compaction_end":
        return this.#send({
          type: "compaction_end",
          reason: event.reason,
          ...this.#toCompactionEnd(event.outcome),
          willRetry: false,
        });
      case "approval_requested":
        // Sent as a question.
        return;
      default:
        return this.#send(event);
    }
  }

  /** Handles an event of the session. Only these say how a run ended. */
  handleSessionEvent(event: SessionEvent): void {
    if (event.type === "agent_start") this.#failure = undefined;
    if (event.type === "error") this.#failure = event.message;
    if (event.type !== "agent_end") return;
    const { terminationReason } = event;
    if (this.#retryAttempt !== undefined) {
      const finalError = this.#failure ?? terminationReason;
      this.#send({ type: "auto_retry_end", success: false, attempt: this.#retryAttempt, finalError });
      this.#retryAttempt = undefined;
    }
    const aborted = terminationReason === "abort_signal" || terminationReason === "gateway_disconnected";
    this.#agentSettled = { type: "agent_settled", aborted };
  }

  /** Sends the end of the run. Call it when the session accepts prompts again. */
  settle(): void {
    const records = [this.#agentEnd, this.#agentSettled];
    this.#agentEnd = undefined;
    this.#agentSettled = undefined;
    for (const record of records) if (record) this.#send(record);
  }

  #withOutput(event: Extract<AgentEvent, { type: "tool_execution_update" }>): PiRecord {
    const { toolCallId, partialResult } = event;
    const { updateType, content } = partialResult;
    if (updateType !== "stdout" && updateType !== "stderr") return event;
    const text = `${this.#outputs.get(toolCallId) ?? ""}${getMessageText({ content })}`.slice(-maxOutputLength);
    this.#outputs.set(toolCallId, text);
    return { ...event, partialResult: { ...partialResult, content: [{ type: "text", text }] } };
  }

  #endRetry({ message }: Extract<AgentEvent, { type: "message_end" }>): void {
    const isAnswer = message.role === "assistant" && message.stopReason !== "error" && message.stopReason !== "aborted";
    if (this.#retryAttempt === undefined || !isAnswer) return;
    this.#send({ type: "auto_retry_end", success: true, attempt: this.#retryAttempt });
    this.#retryAttempt = undefined;
  }

  #handleModel(event: Extract<SessionEvent, { type: "model_changed" }>): void {
    this.#send(event);
    if (event.thinkingLevel === this.#thinkingLevel) return;
    this.#thinkingLevel = event.thinkingLevel;
    this.#send({ type: "thinking_level_changed", level: event.thinkingLevel });
  }

  /** Messages of a run have their own events, and the bookkeeping entries of tau are of no use to clients of pi. */
  #handleEntry(entry: SessionEntry): void {
    if (entry.type === "compaction") this.#compaction = entry;
    if (entry.type === "custom" && !entry.customType.startsWith("tau.")) this.#send({ type: "entry_appended", entry });
    if (entry.type === "custom_message" && !this.#isRunning) this.#sendMessage(entry);
    if (entry.type === "session_info") this.#send({ type: "session_info_changed", name: entry.name });
  }

  #sendMessage({ customType, content, display, details, timestamp }: CustomMessageEntry): void {
    const fields = { customType, content, display, details, timestamp: Date.parse(timestamp) };
    const message = { role: "custom", ...fields };
    for (const type of ["message_start", "message_end"]) this.#send({ type, message });
  }

  #toCompactionEnd(outcome: CompactionResult): object {
    const entry = this.#compaction;
    this.#compaction = undefined;
    if (outcome.kind === "aborted") return { aborted: true };
    if (outcome.kind === "failed") return { aborted: false, errorMessage: outcome.message };
    if (outcome.kind === "nothing") return { aborted: false, errorMessage: formatNothingToCompact(outcome.reason) };
    if (!entry) return { aborted: false };
    const { summary, firstKeptEntryId, tokensBefore, usage, details } = entry;
    const estimatedTokensAfter = outcome.tokensAfter;
    const result = { summary, firstKeptEntryId, tokensBefore, estimatedTokensAfter, usage, details };
    return { aborted: false, result };
  }
}

/** Sends the records of a session from now on. */
export interface FollowedPiEvents {
  /** See `PiEvents.settle`. */
  settle(): void;
  stop(): void;
}

export function followPiEvents(
  hosted: HostedSession,
  { send, onFailed }: { send: (record: PiRecord) => void; onFailed: (error: unknown) => void },
): FollowedPiEvents {
  const { session } = hosted;
  const events = new PiEvents(send, session.thinkingLevel);
  const stopEngine = session.subscribe((event) => events.handle(event));
  const stopSession = hosted.subscribe((item) => {
    if (item.kind !== "event") return;
    events.handleSessionEvent(item.event);
    if (item.event.type === "agent_end") session.waitForIdle().then(() => events.settle(), onFailed);
  });
  return {
    settle: () => events.settle(),
    stop() {
      stopEngine();
      stopSession();
    },
  };
}

/**
 * The message is the live one and may be ahead of the events: the deltas that follow hold everything that it has, and its end
 * says why it stopped.
 */
const withoutContent = ({ message, ...event }: Extract<AgentEvent, { type: "message_start" }>): PiRecord => ({
  ...event,
  message: { ...message, content: [], stopReason: "pending" },
});

/** The delta, without the message so far. */
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
