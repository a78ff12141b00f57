/**
 * One run: from a prompt until the session is idle again. One awaited loop: the engine works until it stops, and the pure
 * `nextStep` says whether that is the end, or what is to be done before it goes on.
 */
import {
  type AfterToolCallContext,
  type AfterToolCallResult,
  type AgentEvent,
  type AgentLoopConfig,
  type AgentLoopTurnUpdate,
  type AgentMessage,
  runAgentLoop,
  runAgentLoopContinue,
  type StreamFn,
  type ThinkingLevel,
  type TurnContext,
} from "@tau/agent";
import {
  type AssistantMessage,
  type Failure,
  isContextOverflow,
  isRetryable,
  getErrorMessage,
  type Model,
  sleep,
} from "@tau/ai";
import type { TerminationReason } from "@tau/protocol";
import { resolveCompactionSettings, shouldCompact } from "../compaction/settings.ts";
import { textTokens } from "../compaction/text.ts";
import { toolsPrefix } from "../pipeline/stable-order.ts";
import { convertToLlm } from "../session/message.ts";
import { boundResult, maxResultCharacters } from "../request/bound.ts";
import { type Budget, countedUsage, type Reservation } from "../budget/budget.ts";
import { compactSession } from "./compacting.ts";
import { nextStep, reasonIfLast, type RunFacts, type RunStop, type StopRequest } from "./next-step.ts";
import { modelName } from "../request/prefix.ts";
import { appendEvent } from "./record.ts";
import { failedStream } from "../request/request.ts";
import { maxRunMs, RunAborted } from "./run-aborted.ts";
import type { RunHost } from "./run-host.ts";
import { RunSpans } from "./run-spans.ts";
import { messagesToSend } from "../request/send.ts";
import { isFailed } from "../agent-session/transcript.ts";
import { endTurn, noTranslation, type Translated, translate } from "./translate.ts";

export interface RunOutcome {
  terminationReason: TerminationReason;
  /** Which of the ways to end the reason stands for. */
  detail: string | undefined;
  failure: Failure | undefined;
  /** The last answer; undefined when there was none. */
  answer: AssistantMessage | undefined;
  /** Everything that was said in the run, prompts included. */
  messages: readonly AgentMessage[];
}

/** How often in a row an answer may be cut off in the middle of its calls. The engine counts within its own runs. */
const maxCutAnswers = 3;

export class Run {
  readonly #host: RunHost;
  readonly #budget: Budget;
  readonly #controller = new AbortController();
  readonly #startedMs: number;
  readonly #spans: RunSpans;
  readonly #messages: AgentMessage[] = [];
  #retryWait: AbortController | undefined;
  #reservation: Reservation | undefined;
  #translation = noTranslation;
  #totalTokens = 0;
  #failures = 0;
  #cutAnswers = 0;
  #wasCompacted = false;
  /** The last attempt gave an answer, whatever kind of. */
  #hasAnswered = true;
  #request: StopRequest | undefined;
  /** Of the attempt that is being made. */
  #answer: AssistantMessage | undefined;
  /** Whether every result of the batch so far asked for the end. */
  #terminates: boolean | undefined;
  #sending: readonly AgentMessage[] = [];
  /** Why the log could not be written, the first time. */
  #logFailure: string | undefined;
  #lastEntryId = "";
  /** Of the last answer. */
  #answerEntryId = "";
  /** A compaction for the threshold is tried again when the context has so many tokens. */
  #compactAgainAt = 0;

  constructor(host: RunHost, budget: Budget) {
    this.#host = host;
    this.#budget = budget;
    this.#startedMs = host.clock.monotonic();
    this.#spans = new RunSpans(host);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get budget(): Budget {
    return this.#budget;
  }

  abort(reason: RunAborted): void {
    this.#controller.abort(reason);
  }

  /** Gives up waiting to ask again. */
  abortRetry(): void {
    this.#retryWait?.abort();
  }

  /** Ends the run after the turn that goes on now. */
  stopAfterTurn(detail: string): void {
    this.#request ??= { kind: "asked", detail };
  }

  /** Never rejects: what goes wrong is in the outcome. */
  async start(prompts: readonly AgentMessage[]): Promise<RunOutcome> {
    const cancelTimers = this.#setTimers();
    try {
      this.#begin();
      const stop = await this.#toTheEnd(prompts);
      // What could not be written was not said: the model must not be told of it later.
      if (this.#logFailure !== undefined) await this.#host.transcript.load(this.#host.session);
      return this.#finish(stop);
    } catch (error) {
      // The last wall: a log that refuses in the middle of a compaction, say. The run still ends as every run ends.
      const failure: Failure = { kind: "unknown", message: getErrorMessage(error) };
      this.#publish(endTurn(this.#translation, "error"));
      return this.#finish({ kind: "stop", reason: "error", detail: failure.kind, failure });
    } finally {
      cancelTimers();
      // Nobody knows what a request cost that was sent and has no answer.
      this.#reservation?.settle(undefined);
    }
  }

  async #toTheEnd(first: readonly AgentMessage[]): Promise<RunStop> {
    let prompts = first;
    this.#checkBudget();
    if (this.#request === undefined && this.#isFull()) {
      // What was said is in the log before anything else is done with it.
      await this.#sayUnanswered(prompts);
      prompts = [];
      await this.#compact("threshold");
    }
    for (;;) {
      if (this.#request?.kind !== "spent") await this.#attempt(prompts);
      else await this.#sayUnanswered(prompts);
      this.#publish(endTurn(this.#translation, reasonIfLast(this.#facts())));
      let step = nextStep(this.#facts());
      while (step.kind === "compact") {
        await this.#compact(step.reason);
        step = nextStep(this.#facts());
      }
      if (step.kind === "stop") return step;
      if (step.kind === "retry" && (await this.#waitForRetry(step)) === "given up") {
        return { kind: "stop", reason: "error", detail: step.failure.kind, failure: step.failure };
      }
      if (step.kind === "retry") await this.#withdrawAnswer();
      prompts = this.#nextPrompts();
    }
  }

  /** An answer that is asked for again is not sent any more, now or after a restart. The log keeps it. */
  async #withdrawAnswer(): Promise<void> {
    const { session, transcript } = this.#host;
    transcript.dropFailure();
    await session.appendContextEdit(this.#answerEntryId, null);
  }

  /** The engine, until it stops. */
  async #attempt(prompts: readonly AgentMessage[]): Promise<void> {
    const { transcript } = this.#host;
    this.#answer = undefined;
    if (this.#request?.kind === "full") this.#request = undefined;
    const { model, thinkingLevel, systemPrompt, tools } = this.#host.current();
    const context = { systemPrompt: systemPrompt.text, messages: [...transcript.messages], tools: [...tools] };
    const config = this.#config(model, thinkingLevel);
    const emit = (event: AgentEvent) => this.#record(event);
    const ask: StreamFn = (...request) => this.#ask(...request);
    const work = async () => {
      if (prompts.length > 0) await runAgentLoop([...prompts], context, config, emit, this.signal, ask);
      else await runAgentLoopContinue(context, config, emit, this.signal, ask);
    };
    this.#hasAnswered = false;
    await this.#spans.within(work);
    this.#hasAnswered = this.#answer !== undefined;
    if (isFailed(this.#answer)) this.#failures++;
  }

  #config(model: Model, thinkingLevel: ThinkingLevel): AgentLoopConfig {
    const { inbox, judge, clock } = this.#host;
    return {
      model,
      ...(thinkingLevel !== "off" && { reasoning: thinkingLevel }),
      clock,
      convertToLlm,
      transformContext: (messages) => this.#toSend(messages),
      getSteeringMessages: () => inbox.take("steer"),
      getFollowUpMessages: () => inbox.take("followUp"),
      shouldStopAfterTurn: () => this.#shouldStop(),
      prepareNextTurn: (turn) => this.#nextTurn(turn),
      beforeToolCall: judge,
      afterToolCall: (call) => this.#bound(call),
    };
  }

  #toSend(messages: readonly AgentMessage[]): AgentMessage[] {
    const { pruning, images } = this.#host.settings();
    const { model } = this.#host.current();
    const sending = messagesToSend(messages, model, { pruning, blockImages: images.blockImages });
    this.#sending = sending;
    return sending;
  }

  /** Reserves what the request may cost, and says when its beginning is another than that of the last one. */
  async #ask(...[model, context, options]: Parameters<StreamFn>) {
    const { clock, ask } = this.#host;
    const granted = this.#reserve(model);
    if (granted.kind === "spent") {
      this.#request = { kind: "spent", limit: granted.limit };
      return failedStream(model, { kind: "refused", message: granted.message }, clock.now());
    }
    this.#reservation = granted.reservation;
    await this.#host.sent.next(this.#host, { model, messages: this.#sending });
    this.#spans.startRequest(model);
    const { maxTokens } = granted;
    return await ask(model, context, { ...options, ...(maxTokens !== undefined && { maxTokens }) });
  }

  #reserve(model: Model) {
    return this.#budget.reserve({
      inputTokens: this.#inputTokens(),
      maxOutputTokens: model.maxTokens,
      price: model.cost,
    });
  }

  /** What the next request takes, about. Until a provider has counted, prompt and tools are estimated beside it. */
  #inputTokens(): number {
    const { transcript, current } = this.#host;
    if (transcript.isCounted) return transcript.tokens;
    const { systemPrompt, tools } = current();
    return transcript.tokens + textTokens(systemPrompt.text) + textTokens(toolsPrefix(tools));
  }

  /** Into the log, then to those who listen. Only what goes into the log is waited for. */
  #record(event: AgentEvent): void | Promise<void> {
    const { session, inbox } = this.#host;
    const appended = appendEvent(session, event, (message) => inbox.getId(message));
    return appended ? this.#takeWritten(event, appended) : this.#take(event);
  }

  async #takeWritten(event: AgentEvent, appended: Promise<string>): Promise<void> {
    try {
      this.#lastEntryId = await appended;
      if (event.type === "message_end") this.#host.inbox.said(event.message);
    } catch (error) {
      // The engine hears of it too, and does nothing more that it cannot write.
      this.#logFailure ??= getErrorMessage(error);
      throw error;
    } finally {
      // Every start is told its end, whatever became of the log.
      this.#take(event);
    }
  }

  #take(event: AgentEvent): void {
    const { publisher, transcript, clock, ids, endCall } = this.#host;
    switch (event.type) {
      case "agent_start":
      case "agent_end":
        // The engine's runs are attempts of this one, which has its own beginning and end.
        return;
      case "message_end":
        transcript.add(event.message);
        this.#messages.push(event.message);
        if (event.message.role === "assistant") this.#takeAnswer(event.message);
        break;
      case "tool_execution_start":
        this.#spans.startCall(event.toolCallId, event.toolName, this.#host);
        break;
      case "tool_execution_end":
        this.#terminates = (this.#terminates ?? true) && event.result.terminate === true;
        this.#spans.endCall(event.toolCallId, event.isError);
        endCall(event.toolCallId);
        break;
      case "turn_end":
        this.#endTurn(event.toolResults.length > 0);
        break;
      default:
        break;
    }
    publisher.engine(event);
    const context = {
      newId: ids,
      now: clock.monotonic(),
      inputTokens: event.type === "message_start" ? transcript.tokens : 0,
      messageCount: transcript.messages.length,
    };
    this.#publish(translate(this.#translation, event, context));
  }

  #takeAnswer(answer: AssistantMessage): void {
    this.#answer = answer;
    this.#answerEntryId = this.#lastEntryId;
    this.#totalTokens += answer.usage.totalTokens;
    this.#reservation?.settle(countedUsage(answer));
    this.#reservation = undefined;
    this.#spans.endRequest(answer);
    if (isFailed(answer)) return;
    this.#failures = 0;
    this.#wasCompacted = false;
  }

  #endTurn(hasResults: boolean): void {
    const isCut = this.#answer?.stopReason === "length";
    if (isCut) {
      const message = hasResults
        ? "The answer was cut off at its longest length in the middle of a call, which was not executed. The model was told."
        : "The answer was cut off at its longest length.";
      this.#host.publisher.fact({ type: "notice", code: "answer_cut", message });
    }
    this.#cutAnswers = isCut && hasResults ? this.#cutAnswers + 1 : 0;
    if (hasResults && this.#terminates) this.stopAfterTurn("terminated");
    this.#terminates = undefined;
  }

  /** Asked after each turn that may be followed by another. */
  #shouldStop(): boolean {
    if (this.#request) return true;
    if (this.#isFull() && !this.#cannotCompact()) this.#request = { kind: "full" };
    else this.#checkBudget();
    return this.#request !== undefined;
  }

  /** A limit that leaves no room for a request ends the run before it is made. */
  #checkBudget(): void {
    const probe = this.#reserve(this.#host.current().model);
    if (probe.kind === "spent") this.#request = { kind: "spent", limit: probe.limit };
    else probe.reservation.cancel();
  }

  #isFull(): boolean {
    const { settings, current } = this.#host;
    return shouldCompact(this.#inputTokens(), resolveCompactionSettings(settings().compaction, current().model));
  }

  #nextTurn({ context }: TurnContext): AgentLoopTurnUpdate {
    const { model, thinkingLevel, systemPrompt, tools } = this.#host.current();
    const isSame = context.systemPrompt === systemPrompt.text && sameList(context.tools ?? [], tools);
    return {
      model,
      thinkingLevel,
      ...(!isSame && { context: { ...context, systemPrompt: systemPrompt.text, tools: [...tools] } }),
    };
  }

  async #bound({ result }: AfterToolCallContext): Promise<AfterToolCallResult | undefined> {
    const most = maxResultCharacters(this.#host.current().model);
    const content = await boundResult(result, { most, keep: this.#host.keep });
    return content && { content };
  }

  #facts(): RunFacts {
    const { transcript, inbox, settings, current } = this.#host;
    const { reason } = this.signal as { reason: unknown };
    const answer = transcript.last === this.#answer || !isFailed(this.#answer) ? this.#answer : undefined;
    return {
      aborted: reason instanceof RunAborted ? reason : undefined,
      answer,
      hasOverflowed: answer !== undefined && isContextOverflow(answer, current().model.contextWindow),
      request: this.#request,
      hasWaiting: !inbox.isEmpty,
      wantsMore:
        transcript.last !== undefined && transcript.last.role !== "assistant" && this.#cutAnswers <= maxCutAnswers,
      isFull: this.#isFull(),
      failures: this.#failures,
      wasCompacted: this.#wasCompacted,
      cannotCompact: this.#cannotCompact(),
      logFailure: this.#logFailure,
      hasAnswered: this.#hasAnswered,
      retry: settings().retry,
    };
  }

  async #compact(reason: "threshold" | "overflow"): Promise<void> {
    const { transcript } = this.#host;
    if (reason === "overflow") transcript.dropFailure();
    const outcome = await compactSession(this.#host, { reason, signal: this.signal });
    this.#totalTokens += outcome.usage.totalTokens;
    this.#budget.charge(outcome.usage);
    if (reason === "overflow") this.#wasCompacted = true;
    transcript.dropFailure();
    // Where it did not help, it is tried again when there is something new to be gained.
    if (outcome.kind !== "compacted" || this.#isFull()) this.#compactAgainAt = transcript.tokens + this.#step();
  }

  #cannotCompact(): boolean {
    return this.#host.transcript.tokens < this.#compactAgainAt;
  }

  /** A twentieth of the window. */
  #step(): number {
    return resolveCompactionSettings({}, this.#host.current().model).contextWindow / 20;
  }

  async #waitForRetry(retry: { attempt: number; delayMs: number; failure: Failure }): Promise<"over" | "given up"> {
    const { attempt, delayMs, failure } = retry;
    const { publisher, settings, clock } = this.#host;
    const maxAttempts = settings().retry.maxRetries;
    publisher.fact({ type: "retry_scheduled", attempt, maxAttempts, delayMs, reason: failure.message });
    this.#spans.retry(attempt, delayMs, failure);
    const wait = (this.#retryWait = new AbortController());
    const onAbort = () => wait.abort();
    this.signal.addEventListener("abort", onAbort, { once: true });
    if (this.signal.aborted) onAbort();
    const ended = await sleep(clock, delayMs, wait.signal);
    this.signal.removeEventListener("abort", onAbort);
    this.#retryWait = undefined;
    return ended === "aborted" && !this.signal.aborted ? "given up" : "over";
  }

  /** What the engine begins with: nothing new while results wait to be seen, else what a person said meanwhile. */
  #nextPrompts(): AgentMessage[] {
    const { transcript, inbox } = this.#host;
    if (transcript.last !== undefined && transcript.last.role !== "assistant") return [];
    const steering = inbox.take("steer");
    return steering.length > 0 ? steering : inbox.take("followUp");
  }

  /** What was accepted is in the log, also where no request can be made for it. */
  async #sayUnanswered(prompts: readonly AgentMessage[]): Promise<void> {
    for (const message of prompts) {
      await this.#record({ type: "message_start", message });
      await this.#record({ type: "message_end", message });
    }
  }

  #setTimers(): () => void {
    const { clock } = this.#host;
    const { deadlineMs } = this.#budget;
    const cancels = [
      clock.setTimer(maxRunMs, () =>
        this.abort(new RunAborted("timeout_48h", "The run took 48 hours, which is the longest that one may take.")),
      ),
    ];
    if (deadlineMs !== undefined) {
      const spent = () =>
        this.abort(new RunAborted("no_tool_calls", "The time of the run's budget is over.", "budget_time"));
      cancels.push(clock.setTimer(Math.max(0, deadlineMs - clock.monotonic()), spent));
    }
    return () => cancels.forEach((cancel) => cancel());
  }

  #begin(): void {
    const { session, publisher, clock, current, resumedFrom } = this.#host;
    const { model, thinkingLevel, tools } = current();
    publisher.engine({ type: "agent_start" });
    publisher.event({
      type: "agent_start",
      sessionId: session.id,
      model: modelName(model),
      tools: tools.map(({ name }) => name),
      thinkingLevel,
      ...(resumedFrom !== undefined && { resumedFrom }),
      timestamp: clock.now(),
    });
  }

  #finish({ reason, detail, failure }: RunStop): RunOutcome {
    const { session, publisher, clock } = this.#host;
    if (failure) {
      const { kind: code, message } = failure;
      publisher.event({ type: "error", code, message, recoverable: isRetryable(failure) });
    }
    publisher.engine({ type: "agent_end", messages: [...this.#messages] });
    publisher.event({
      type: "agent_end",
      sessionId: session.id,
      totalTurns: this.#translation.turns,
      totalTokens: this.#totalTokens,
      durationMs: clock.monotonic() - this.#startedMs,
      terminationReason: reason,
      ...(detail !== undefined && { detail }),
    });
    this.#spans.end(reason, detail);
    const answer = this.#messages.findLast((message) => message.role === "assistant");
    return { terminationReason: reason, detail, failure, answer, messages: this.#messages };
  }

  #publish([next, events]: Translated): void {
    this.#translation = next;
    for (const event of events) this.#host.publisher.event(event);
  }
}

const sameList = <T>(a: readonly T[], b: readonly T[]): boolean =>
  a.length === b.length && a.every((one, at) => one === b[at]);
