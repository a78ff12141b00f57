/**
 * A run lasts from a prompt until the session is idle again. It is one awaited loop: an attempt runs the engine until it
 * stops, and the pure `nextStep` decides whether that is the end, or what to do before the next attempt.
 */
import type { AgentMessage } from "@tau/agent";
import { type AssistantMessage, type Failure, isContextOverflow } from "@tau/ai";
import { getErrorMessage, sleep } from "@tau/ai/internal";
import { formatLimit, type RunEnd, type TerminationReason, toTermination } from "@tau/protocol";
import { isFailed } from "./transcript.ts";
import type { Budget } from "../budget/budget.ts";
import { isLogError } from "../session/read-only.ts";
import { type AppliedBoundary, applyBoundary, describeBoundary } from "./boundary.ts";
import { Attempt, type AttemptContext, type AttemptOutcome } from "./attempt.ts";
import { compactSession } from "./compacting.ts";
import { copyMessages } from "./copy-messages.ts";
import { findSpentLimit, getCompactionStep, isContextFull } from "./context-size.ts";
import { endIfLast, nextStep, type RunFacts, type Step, type StopRequest, toFailedEnd } from "./next-step.ts";
import { afterChange, afterCompaction, noRecovery, type Recovery } from "./recovery.ts";
import { Recorder } from "./recorder.ts";
import { RunAborted } from "./run-aborted.ts";
import type { RunHost } from "./run-host.ts";
import { RunSpans } from "./run-spans.ts";
import { noAlternatives } from "./used-model.ts";

export interface RunOutcome {
  end: RunEnd;
  /** `end` as surfaces get it. */
  terminationReason: TerminationReason;
  detail: string | undefined;
  /** Set when the run failed. */
  failure: Failure | undefined;
  /** A steering message interrupted the run; it is sent in a new one. */
  isSteered: boolean;
  /** The last answer; undefined when there was none. */
  answer: AssistantMessage | undefined;
  /** Everything that was said in the run, prompts included. */
  messages: readonly AgentMessage[];
}

interface StartOptions {
  /** Called when the prompts are in the log. */
  onWritten?: () => void;
  /** Whether it begins with the calls that wait for an answer. */
  resumes?: boolean;
}

export class Run {
  readonly #context: AttemptContext;
  readonly #controller = new AbortController();
  #request: StopRequest | undefined;
  #giveUpRetry: (() => void) | undefined;
  #isOver = false;

  constructor(host: RunHost, budget: Budget) {
    this.#context = {
      host,
      budget,
      recorder: new Recorder(host),
      spans: new RunSpans(host),
      signal: this.#controller.signal,
      getRequest: () => this.#request,
    };
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Nothing is sent to the model any more. */
  get isOver(): boolean {
    return this.#isOver;
  }

  get budget(): Budget {
    return this.#context.budget;
  }

  abort(reason: RunAborted): void {
    this.#controller.abort(reason);
  }

  /** Stops waiting to ask again: the run ends with the failure. */
  abortRetry(): void {
    this.#giveUpRetry?.();
  }

  /** Ends the run after the current turn. */
  stopAfterTurn(end: RunEnd): void {
    this.#request ??= { kind: "asked", end };
  }

  /** Never rejects: what goes wrong is in the outcome. */
  async start(
    prompts: readonly AgentMessage[],
    { onWritten = () => {}, resumes = false }: StartOptions = {},
  ): Promise<RunOutcome> {
    const { recorder, spans, host } = this.#context;
    const cancelTimers = this.#setTimers();
    const lastPrompt = prompts.findLast(({ role }) => role === "user");
    let end: RunEnd;
    try {
      // What extensions add follows the prompts of the user.
      recorder.begin((message) => message === lastPrompt && onWritten());
      if (host.extensions?.has("agent_start")) await host.extensions.emit({ type: "agent_start" });
      end = await this.#loop(prompts, resumes);
      // A run that was aborted leaves no call without a result.
      if (end.kind !== "asked") await host.questions.settle();
      // What followed the last turn, for example a compaction.
      if (recorder.logFailure === undefined) await host.session.flush();
      // What could not be written was not said: the model must not see it later.
      if (recorder.logFailure !== undefined) await host.transcript.load(host.session);
    } catch (error) {
      // For example a log that fails in the middle of a compaction. The run still ends as every run ends.
      const cause = recorder.logFailure !== undefined || isLogError(error) ? "log" : "internal";
      const message = recorder.logFailure ?? getErrorMessage(error);
      end = { kind: "failed", cause, failure: { kind: "unknown", message } };
      recorder.endTurn(end);
    } finally {
      cancelTimers();
    }
    this.#isOver = true;
    if (host.extensions?.has("agent_end")) {
      await host.extensions.emit({ type: "agent_end", messages: copyMessages(recorder.messages) });
    }
    recorder.finish(end);
    const { terminationReason, detail } = toTermination(end);
    spans.end(terminationReason, detail);
    return {
      end,
      terminationReason,
      detail,
      failure: "failure" in end ? end.failure : undefined,
      isSteered: this.signal.reason instanceof RunAborted && this.signal.reason.isSteered,
      answer: recorder.messages.findLast((message) => message.role === "assistant"),
      messages: recorder.messages,
    };
  }

  async #loop(first: readonly AgentMessage[], resumes: boolean): Promise<RunEnd> {
    const { recorder, host } = this.#context;
    await host.used.refresh();
    let { prompts, last } = await this.#prepare(first, resumes);
    let isResumed = false;
    for (;;) {
      if (last.request?.kind === "spent") await this.#writeUnanswered(prompts);
      else last = await new Attempt(this.#context, last.recovery).run(prompts, resumes && !isResumed);
      isResumed = true;
      let step = nextStep(this.#getFacts(last));
      // A failed answer that may be asked for again does not end its turn.
      const mayRepeat =
        step.kind === "retry" || step.kind === "change" || (step.kind === "compact" && isFailed(last.answer));
      if (!mayRepeat) recorder.endTurn(endIfLast(this.#getFacts(last)));
      for (; step.kind === "compact"; step = nextStep(this.#getFacts(last))) {
        last = { ...last, recovery: await this.#compact(step.reason, last.recovery) };
      }
      if (step.kind === "retry") step = await this.#retry(step, last);
      if (step.kind === "change") {
        await host.used.change(step.to, step.failure);
        last = { ...last, recovery: afterChange(last.recovery) };
      }
      if (step.kind === "stop") {
        recorder.endTurn(step.end);
        const added = await this.#beforeSettle(step.end);
        // The run was stopped while extensions were waited for, for example for the answers of sub-agents.
        const { aborted } = this.#getFacts(last);
        if (aborted && added === undefined) return aborted;
        if (!added?.continues) return step.end;
        // The budget has no room for the request that extensions ask for.
        if (last.request?.kind === "spent") return { kind: "budget", limit: last.request.limit };
        prompts = [];
        continue;
      }
      if (mayRepeat) {
        await this.#withdraw(last.answerEntryId);
        recorder.repeatTurn();
      }
      prompts = this.#takeQueued();
    }
  }

  /** Extensions may add entries before the run is over, and ask for one more request unless it was stopped. */
  async #beforeSettle(end: RunEnd): Promise<AppliedBoundary | undefined> {
    const { host } = this.#context;
    // What they add must not come between a call and its result.
    if (!host.extensions?.has("agent_before_settle") || end.kind === "asked") return undefined;
    const outcome = end.kind === "aborted" ? "aborted" : end.kind === "failed" ? "error" : "completed";
    const boundary = describeBoundary(host, outcome);
    const result = await host.extensions.emit({ type: "agent_before_settle", ...boundary });
    const added = result && (await applyBoundary(host, result));
    return added && { ...added, continues: added.continues && (end.kind === "done" || end.kind === "length") };
  }

  /** Before the first attempt: a spent budget or a full context is dealt with first. */
  async #prepare(
    prompts: readonly AgentMessage[],
    resumes: boolean,
  ): Promise<{ prompts: readonly AgentMessage[]; last: AttemptOutcome }> {
    const { host, budget } = this.#context;
    const limit = findSpentLimit(host, budget);
    const request: StopRequest | undefined = limit === undefined ? this.#request : { kind: "spent", limit };
    const last: AttemptOutcome = {
      answer: undefined,
      answerEntryId: "",
      request,
      recovery: noRecovery,
      added: undefined,
    };
    if (request !== undefined || resumes || !isContextFull(host)) return { prompts, last };
    // The prompts are in the log before anything else happens.
    await this.#writeUnanswered(prompts);
    return { prompts: [], last: { ...last, recovery: await this.#compact("threshold", noRecovery) } };
  }

  #getFacts({ answer, request, recovery, added }: AttemptOutcome): RunFacts {
    const { host, recorder } = this.#context;
    const { transcript, inbox, settings, current } = host;
    const { last } = transcript;
    const reason: unknown = this.signal.reason;
    // A failed answer that was dropped from the transcript has been dealt with.
    const counted = answer && (last === answer || !isFailed(answer)) ? answer : undefined;
    return {
      aborted: reason instanceof RunAborted ? reason.end : undefined,
      answer: counted,
      hasOverflowed: counted !== undefined && isContextOverflow(counted, current().model.contextWindow),
      request,
      hasQueued: inbox.hasNext || host.extensions?.isQueueEmpty === false,
      hasUnseenResults: added?.continues === true || asksForAnswer(transcript.messages),
      isFull: isContextFull(host),
      tokens: transcript.tokens,
      logFailure: recorder.logFailure,
      hasAnswered: answer !== undefined || request?.kind === "spent",
      recovery,
      alternatives: isFailed(counted) ? host.used.getAlternatives() : noAlternatives,
      retry: { ...settings().retry, waitsForBusyProvider: host.waitsForBusyProvider },
      nowMs: host.clock.monotonic(),
    };
  }

  async #compact(reason: "threshold" | "overflow", recovery: Recovery): Promise<Recovery> {
    const { host, budget, recorder } = this.#context;
    const { transcript } = host;
    if (reason === "overflow") transcript.dropFailure();
    const outcome = await compactSession(host, { reason, signal: this.signal });
    recorder.addTokens(outcome.usage.totalTokens);
    budget.charge(outcome.usage);
    transcript.dropFailure();
    const hasHelped = outcome.kind === "compacted" && !isContextFull(host);
    return afterCompaction(recovery, reason, hasHelped ? undefined : transcript.tokens + getCompactionStep(host));
  }

  /** Waits until the request may be repeated. The run ends instead if that is not waited for. */
  async #retry(step: Step & { kind: "retry" }, last: AttemptOutcome): Promise<Step> {
    const { attempt, maxAttempts, delayMs, failure } = step;
    const { host, spans } = this.#context;
    host.publisher.fact({
      type: "retry_scheduled",
      attempt,
      ...(maxAttempts !== undefined && { maxAttempts }),
      delayMs,
      reason: failure.message,
    });
    spans.retry(attempt, delayMs, failure);
    const wait = new AbortController();
    this.#giveUpRetry = () => wait.abort();
    await sleep(host.clock, delayMs, AbortSignal.any([this.signal, wait.signal]));
    this.#giveUpRetry = undefined;
    const { aborted } = this.#getFacts(last);
    if (aborted) return { kind: "stop", end: aborted };
    if (wait.signal.aborted) return { kind: "stop", end: toFailedEnd(failure) };
    return { kind: "continue" };
  }

  /** An answer that is asked for again is not sent any more, now or after a restart. The log keeps it. */
  async #withdraw(answerEntryId: string): Promise<void> {
    const { session, transcript } = this.#context.host;
    transcript.dropFailure();
    await session.appendContextEdit(answerEntryId, null);
  }

  /** The prompts of the next attempt: none while the model has not seen the last results, else what was queued. */
  #takeQueued(): AgentMessage[] {
    const { transcript, inbox, extensions } = this.#context.host;
    if (transcript.last !== undefined && transcript.last.role !== "assistant") return [];
    const steering = [...inbox.take("steer"), ...(extensions?.take("steer") ?? [])];
    return steering.length > 0 ? steering : [...inbox.take("followUp"), ...(extensions?.take("followUp") ?? [])];
  }

  /** An accepted prompt goes into the log, also when no request can be made for it. */
  async #writeUnanswered(prompts: readonly AgentMessage[]): Promise<void> {
    const { recorder } = this.#context;
    for (const message of prompts) {
      await recorder.record({ type: "message_start", message });
      await recorder.record({ type: "message_end", message });
    }
  }

  #setTimers(): () => void {
    const { clock, settings } = this.#context.host;
    const { runMs } = settings().limits;
    const text = `The run took ${formatLimit(runMs)}, the most that a run may take.`;
    const timeout = new RunAborted({ kind: "timeout", limitMs: runMs }, text);
    const cancels = [clock.setTimer(runMs, () => this.abort(timeout))];
    const { deadlineMs } = this.budget;
    if (deadlineMs !== undefined) {
      const spent = new RunAborted({ kind: "budget", limit: "time" }, "The run has used up its budget of time.");
      cancels.push(clock.setTimer(Math.max(0, deadlineMs - clock.monotonic()), () => this.abort(spent)));
    }
    return () => cancels.forEach((cancel) => cancel());
  }
}

/** Whether the model has not seen the last messages. What extensions add does not ask for an answer by itself. */
function asksForAnswer(messages: readonly AgentMessage[]): boolean {
  const last = messages.findLast(({ role }) => role !== "custom");
  return last !== undefined && last.role !== "assistant";
}
