/** How a session runs its agent: what is saved, tried again and compacted. */
import type { AgentEvent, AgentMessage } from "@tau/agent";
import { type AssistantMessage, isContextOverflow, systemClock, type Usage } from "@tau/ai";
import { getErrorMessage, sleep } from "@tau/ai/internal";
import {
  type BranchSummaryOptions,
  type CompactionResult,
  generateBranchSummary,
  hasMessages,
  isRetryableAssistantError,
  prepareAnyCompaction,
  summarizePreparation,
} from "@tau/pi/internal";
import { getCompactionReason } from "./compaction-reason.ts";
import { SessionState } from "./session-state.ts";
import type { Activity, CompactionEnd, CompactionReason } from "./types.ts";

const recoveryFailed =
  "Context overflow recovery failed after one compact-and-retry attempt. " +
  "Choose a model with a larger context, or begin a new session.";

/** By a model or by an extension. */
export interface NewBranchSummary {
  summary: string;
  details?: unknown;
  usage?: Usage | undefined;
}

export abstract class SessionRuns extends SessionState {
  /** Whether the context was compacted for the request that is being sent again. */
  #isRecovering = false;
  #turnIndex = 0;
  #currentRun: Promise<void> | undefined;

  /** False until a run, its retries and what follows them have ended. */
  get isIdle(): boolean {
    return this.#currentRun === undefined && !this.isStreaming;
  }

  async waitForIdle(): Promise<void> {
    await Promise.allSettled([this.#currentRun, this.agent.waitForIdle()]);
  }

  async abort(): Promise<void> {
    this.abortRetry();
    this.agent.abort();
    await this.agent.waitForIdle();
  }

  abortRetry(): void {
    this.abortActivity("retrying");
  }

  abortCompaction(): void {
    this.abortActivity("compacting");
  }

  abortBranchSummary(): void {
    this.abortActivity("summarizing");
  }

  async compact(customInstructions?: string): Promise<CompactionResult> {
    await this.abort();
    this.listeners.emit({ type: "compaction_start", reason: "manual" });
    try {
      const result = await this.#compactNow(customInstructions);
      if (!result) throw new Error(this.#describeNothing());
      this.#endCompaction("manual", { result });
      return result;
    } catch (error) {
      this.#endCompaction("manual", describeFailure(error, "Compaction failed"));
      throw error;
    }
  }

  #describeNothing(): string {
    const isCompacted = this.sessionManager.getBranch().at(-1)?.type === "compaction";
    return isCompacted ? "Already compacted" : "Nothing to compact (session too small)";
  }

  /** Extensions see calls and results before those hooks that the agent has already. */
  protected installHooks(): void {
    const { beforeToolCall, afterToolCall } = this.agent;
    this.agent.beforeToolCall = async (context, signal) => {
      const { id: toolCallId, name: toolName } = context.toolCall;
      const event = { type: "tool_call", toolCallId, toolName, input: context.args };
      const verdict = await this.runner.emitToolCall(event as never);
      return verdict?.["block"] ? (verdict as { block: true }) : await beforeToolCall?.(context, signal);
    };
    this.agent.afterToolCall = async (context, signal) => {
      const own = await afterToolCall?.(context, signal);
      const { toolCall, args, result, isError } = context;
      const { content = result.content, details = result.details } = own ?? {};
      const names = { toolCallId: toolCall.id, toolName: toolCall.name, input: args };
      const event = { type: "tool_result", ...names, content, details, isError: own?.isError ?? isError };
      const changes = await this.runner.emitToolResult(event as never);
      return changes ? { ...own, ...changes } : own;
    };
  }

  protected async handleEvent(event: AgentEvent): Promise<void> {
    if (event.type === "message_end") await this.#letExtensionsChange(event.message);
    else await this.runner.emit(this.#countTurns(event) as never);
    this.listeners.emit(event);
    if (event.type === "message_end") this.#save(event.message);
  }

  /** In place, since the agent has added the message already. */
  async #letExtensionsChange(message: AgentMessage): Promise<void> {
    const replacement = await this.runner.emitMessageEnd({ type: "message_end", message });
    if (!replacement || replacement === message) return;
    for (const key of Object.keys(message)) Reflect.deleteProperty(message, key);
    Object.assign(message, replacement);
  }

  /** Extensions are told which turn of the run it is, from 0. */
  #countTurns(event: AgentEvent): object {
    if (event.type === "agent_start") this.#turnIndex = 0;
    if (event.type === "turn_start") return { ...event, turnIndex: this.#turnIndex, timestamp: Date.now() };
    if (event.type === "turn_end") return { ...event, turnIndex: this.#turnIndex++ };
    return event;
  }

  #save(message: AgentMessage): void {
    if (message.role === "custom") {
      const { customType, content, display, details } = message;
      this.sessionManager.appendCustomMessageEntry(customType, content, display, details);
    } else this.sessionManager.appendMessage(message);
    if (message.role === "user") this.#isRecovering = false;
    if (message.role !== "assistant" || message.stopReason === "error") return;
    this.#isRecovering = false;
    if (this.retryCount === 0) return;
    this.listeners.emit({ type: "auto_retry_end", success: true, attempt: this.retryCount });
    this.retryCount = 0;
  }

  /** Runs, and decides afterwards whether to try again, to compact or to stop. */
  protected async run(start: () => Promise<void>): Promise<void> {
    const run = this.#runToEnd(start);
    this.#currentRun = run;
    try {
      await run;
    } finally {
      if (this.#currentRun === run) await this.#settle();
    }
  }

  async #settle(): Promise<void> {
    this.#currentRun = undefined;
    const settled = { type: "agent_settled", aborted: this.#getLastAnswer()?.stopReason === "aborted" } as const;
    await this.runner.emit(settled);
    this.listeners.emit(settled);
  }

  async #runToEnd(start: () => Promise<void>): Promise<void> {
    await start();
    while ((await this.#tryRetry()) || (await this.#tryCompaction())) await this.agent.continue();
  }

  #getLastAnswer(): AssistantMessage | undefined {
    const last = this.messages.at(-1);
    return last?.role === "assistant" ? last : undefined;
  }

  /** True if the run goes on. */
  async #tryRetry(): Promise<boolean> {
    const last = this.#getLastAnswer();
    const { enabled, maxRetries, baseDelayMs } = this.settingsManager.getRetrySettings();
    const canRetry = last && isRetryableAssistantError(last) && !isContextOverflow(last, this.model?.contextWindow);
    const errorMessage = last?.errorMessage ?? "Unknown error";
    const fail = (finalError: string, attempt: number) => {
      this.retryCount = 0;
      this.listeners.emit({ type: "auto_retry_end", success: false, attempt, finalError });
      return false;
    };
    if (!canRetry || !enabled) return this.retryCount > 0 && fail(errorMessage, this.retryCount);
    if (this.retryCount >= maxRetries) return fail(errorMessage, this.retryCount);
    this.retryCount++;
    const delayMs = baseDelayMs * 2 ** (this.retryCount - 1);
    this.listeners.emit({
      type: "auto_retry_start",
      attempt: this.retryCount,
      maxAttempts: maxRetries,
      delayMs,
      errorMessage,
    });
    this.agent.replaceMessages(this.messages.slice(0, -1));
    const waited = await this.during("retrying", (signal) => sleep(systemClock, delayMs, signal));
    return waited === "elapsed" || fail("Retry cancelled", this.retryCount);
  }

  /** True if the run goes on: a request that was too long is sent again once, in a shorter context. */
  async #tryCompaction(): Promise<boolean> {
    const last = this.#getLastAnswer();
    const reason = last && last.stopReason !== "aborted" ? this.#getCompactionReason(last) : undefined;
    if (!last || !reason) return false;
    const willRetry = reason === "overflow" && last.stopReason === "error";
    if (willRetry && this.#isRecovering) {
      this.#endCompaction("overflow", { errorMessage: recoveryFailed });
      return false;
    }
    this.#isRecovering = willRetry;
    if (!(await this.#compactFor(reason, willRetry))) return false;
    if (!willRetry) return this.agent.hasQueuedMessages();
    if (this.#getLastAnswer()) this.agent.replaceMessages(this.messages.slice(0, -1));
    return true;
  }

  /** An answer that was aborted may have filled the context too. */
  protected async compactBeforePrompt(): Promise<void> {
    const last = this.messages.findLast((message) => message.role === "assistant");
    const reason = last && this.#getCompactionReason(last);
    if (reason && !this.#isRecovering) await this.#compactFor(reason, false);
  }

  #getCompactionReason(answer: AssistantMessage): "overflow" | "threshold" | undefined {
    const { model, messages } = this;
    const settings = this.settingsManager.getCompactionSettings();
    return model && getCompactionReason(answer, { model, messages, branch: this.sessionManager.getBranch(), settings });
  }

  /** False if it failed, or if there was nothing to compact. */
  async #compactFor(reason: "overflow" | "threshold", willRetry: boolean): Promise<boolean> {
    this.listeners.emit({ type: "auto_compaction_start", reason });
    this.listeners.emit({ type: "compaction_start", reason });
    try {
      const result = await this.#compactNow();
      this.#endCompaction(reason, { result, willRetry: willRetry && result !== undefined });
      return result !== undefined;
    } catch (error) {
      const prefix = reason === "overflow" ? "Context overflow recovery failed" : "Auto-compaction failed";
      this.#endCompaction(reason, describeFailure(error, prefix));
      return false;
    }
  }

  #endCompaction(reason: CompactionReason, fields: Partial<CompactionEnd>): void {
    const end: CompactionEnd = { result: undefined, aborted: false, willRetry: false, ...fields };
    if (reason !== "manual") this.listeners.emit({ type: "auto_compaction_end", ...end });
    this.listeners.emit({ type: "compaction_end", reason, ...end });
  }

  /** Undefined if there is nothing to compact. */
  async #compactNow(customInstructions?: string): Promise<CompactionResult | undefined> {
    const { model } = this;
    if (!model) throw new Error("No model selected");
    const apiKey = await this.requireApiKey(model);
    const branchEntries = this.sessionManager.getBranch();
    const preparation = prepareAnyCompaction(branchEntries, this.settingsManager.getCompactionSettings());
    if (!preparation) return undefined;
    return await this.during("compacting", async (signal) => {
      const event = { preparation, branchEntries, customInstructions, signal };
      const verdict = await this.runner.emit({ type: "session_before_compact", ...event });
      if (verdict?.["cancel"]) throw new Error("Compaction cancelled");
      const given = verdict?.["compaction"] as CompactionResult | undefined;
      if (!given && !hasMessages(preparation)) return undefined;
      const result =
        given ??
        (await summarizePreparation(preparation, {
          model,
          apiKey,
          instructions: customInstructions,
          signal,
          streamFn: this.agent.streamFn,
        }));
      if (signal.aborted) throw new Error("Compaction cancelled");
      const { summary, firstKeptEntryId, tokensBefore, details, usage } = result;
      const isFromExtension = given !== undefined;
      const id = this.sessionManager.appendCompaction(
        summary,
        firstKeptEntryId,
        tokensBefore,
        details,
        isFromExtension,
        usage,
      );
      this.reloadMessages();
      const compactionEntry = this.sessionManager.getEntry(id);
      await this.runner.emit({ type: "session_compact", compactionEntry, fromExtension: isFromExtension });
      return result;
    });
  }

  protected async summarizeBranch(
    entries: Parameters<typeof generateBranchSummary>[0],
    instructions: Pick<BranchSummaryOptions, "customInstructions" | "replaceInstructions">,
  ): Promise<NewBranchSummary | undefined> {
    const { model } = this;
    if (!model) throw new Error("No model selected");
    const apiKey = await this.modelRegistry.getApiKey(model);
    const result = await this.during("summarizing", (signal) =>
      generateBranchSummary(entries, {
        model,
        apiKey,
        signal,
        streamFn: this.agent.streamFn,
        reserveTokens: this.settingsManager.getBranchSummarySettings().reserveTokens,
        ...instructions,
      }),
    );
    if (result.error !== undefined) throw new Error(result.error);
    const { summary, readFiles = [], modifiedFiles = [], usage } = result;
    return summary === undefined ? undefined : { summary, details: { readFiles, modifiedFiles }, usage };
  }

  protected async during<T>(
    kind: Exclude<Activity["kind"], "idle">,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const activity = { kind, abort: new AbortController() };
    this.activity = activity;
    try {
      return await work(activity.abort.signal);
    } finally {
      // Another one may have begun meanwhile.
      if (this.activity === activity) this.activity = { kind: "idle" };
    }
  }

  protected abortActivity(kind: Activity["kind"]): void {
    if (this.activity.kind !== "idle" && this.activity.kind === kind) this.activity.abort.abort();
  }
}

function describeFailure(error: unknown, prefix: string): Partial<CompactionEnd> {
  const message = getErrorMessage(error);
  return message === "Compaction cancelled" ? { aborted: true } : { errorMessage: `${prefix}: ${message}` };
}
