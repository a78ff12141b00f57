/** Decides after each answer whether a request is sent again or the context is compacted. */
import type { Agent, AgentMessage } from "@tau/agent";
import { type AssistantMessage, isContextOverflow, systemClock } from "@tau/ai";
import { type Listeners, sleep } from "@tau/ai/internal";
import { isRetryableAssistantError, type SessionManager } from "@tau/pi/internal";
import type { SettingsManager } from "../settings/settings-manager.ts";
import type { Activity } from "./activity.ts";
import { getCompactionReason } from "./compaction-reason.ts";
import type { Compactor } from "./compactor.ts";
import type { AgentSessionEvent } from "./types.ts";

const recoveryFailed =
  "Context overflow recovery failed after one compact-and-retry attempt. " +
  "Choose a model with a larger context, or begin a new session.";

interface RecoveryParts {
  agent: Agent;
  sessionManager: SessionManager;
  settingsManager: SettingsManager;
  compactor: Compactor;
  activity: Activity;
  listeners: Listeners<AgentSessionEvent>;
}

export class Recovery {
  readonly #parts: RecoveryParts;
  #retryCount = 0;
  /** Whether the context was compacted for the request that is being sent again. */
  #isRecovering = false;

  constructor(parts: RecoveryParts) {
    this.#parts = parts;
  }

  get retryCount(): number {
    return this.#retryCount;
  }

  /** Takes note of a message that ended: an answer without an error ends the retries. */
  handleMessage(message: AgentMessage): void {
    if (message.role === "user") this.#isRecovering = false;
    if (message.role !== "assistant" || message.stopReason === "error") return;
    this.#isRecovering = false;
    if (this.#retryCount === 0) return;
    this.#parts.listeners.emit({ type: "auto_retry_end", success: true, attempt: this.#retryCount });
    this.#retryCount = 0;
  }

  /** Retries or compacts as the last answer asks for. True if the run continues. */
  async recover(): Promise<boolean> {
    return (await this.#tryRetry()) || (await this.#tryCompaction());
  }

  /** Compacts a context that the last answer has filled, also one that was aborted. */
  async compactBeforePrompt(): Promise<void> {
    const last = this.#messages.findLast((message) => message.role === "assistant");
    const reason = last && this.#getCompactionReason(last);
    if (reason && !this.#isRecovering) await this.#parts.compactor.tryCompact(reason, false);
  }

  async #tryRetry(): Promise<boolean> {
    const { agent, settingsManager, activity, listeners } = this.#parts;
    const last = getLastAnswer(agent);
    const { enabled, maxRetries, baseDelayMs } = settingsManager.getRetrySettings();
    const window = agent.state.model?.contextWindow;
    const canRetry = last && isRetryableAssistantError(last) && !isContextOverflow(last, window);
    const errorMessage = last?.errorMessage ?? "Unknown error";
    if (!canRetry || !enabled) return this.#retryCount > 0 && this.#endRetries(errorMessage);
    if (this.#retryCount >= maxRetries) return this.#endRetries(errorMessage);
    const attempt = ++this.#retryCount;
    const delayMs = baseDelayMs * 2 ** (attempt - 1);
    listeners.emit({ type: "auto_retry_start", attempt, maxAttempts: maxRetries, delayMs, errorMessage });
    this.#dropLastMessage();
    const waited = await activity.during("retrying", (signal) => sleep(systemClock, delayMs, signal));
    return waited === "elapsed" || this.#endRetries("Retry cancelled");
  }

  /** Returns false: the run does not continue. */
  #endRetries(finalError: string): false {
    const attempt = this.#retryCount;
    this.#retryCount = 0;
    this.#parts.listeners.emit({ type: "auto_retry_end", success: false, attempt, finalError });
    return false;
  }

  /** A request that was too long is sent again once, in a shorter context. */
  async #tryCompaction(): Promise<boolean> {
    const { agent, compactor } = this.#parts;
    const last = getLastAnswer(agent);
    const reason = last && last.stopReason !== "aborted" ? this.#getCompactionReason(last) : undefined;
    if (!last || !reason) return false;
    const willRetry = reason === "overflow" && last.stopReason === "error";
    if (willRetry && this.#isRecovering) {
      compactor.end("overflow", { errorMessage: recoveryFailed });
      return false;
    }
    this.#isRecovering = willRetry;
    if (!(await compactor.tryCompact(reason, willRetry))) return false;
    if (!willRetry) return agent.hasQueuedMessages();
    if (getLastAnswer(agent)) this.#dropLastMessage();
    return true;
  }

  #getCompactionReason(answer: AssistantMessage): "overflow" | "threshold" | undefined {
    const { agent, sessionManager, settingsManager } = this.#parts;
    const { model } = agent.state;
    const settings = settingsManager.getCompactionSettings();
    const state = { messages: this.#messages, branch: sessionManager.getBranch(), settings };
    return model && getCompactionReason(answer, { model, ...state });
  }

  get #messages(): AgentMessage[] {
    return this.#parts.agent.state.messages;
  }

  #dropLastMessage(): void {
    this.#parts.agent.replaceMessages(this.#messages.slice(0, -1));
  }
}

/** The last message, if it is an answer of the model. */
export function getLastAnswer(agent: Agent): AssistantMessage | undefined {
  const last = agent.state.messages.at(-1);
  return last?.role === "assistant" ? last : undefined;
}
