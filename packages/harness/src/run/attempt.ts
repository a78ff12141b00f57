/** An attempt is one run of the engine, from prompts until it stops. A run of the session is one or more attempts. */
import {
  type AgentEvent,
  type AgentLoopConfig,
  type AgentLoopTurnUpdate,
  type AgentMessage,
  resumeAgentLoop,
  runAgentLoop,
  runAgentLoopContinue,
  type StreamFn,
  type TurnContext,
} from "@tau/agent";
import type { AssistantMessage } from "@tau/ai";
import { isSameList } from "@tau/ai/internal";
import { type Budget, countedUsage } from "../budget/budget.ts";
import { convertToLlm } from "../session/message.ts";
import { type AppliedBoundary, applyBoundary, describeBoundary } from "./boundary.ts";
import { findSpentLimit, isContextFull } from "./context-size.ts";
import { createCallHooks } from "./call-hooks.ts";
import { copyMessage } from "./copy-messages.ts";
import { NextRequest } from "./next-request.ts";
import type { StopRequest } from "./next-step.ts";
import { afterAnswer, type Recovery } from "./recovery.ts";
import type { Recorder } from "./recorder.ts";
import type { RunHost } from "./run-host.ts";
import type { RunSpans } from "./run-spans.ts";

/** Shared by a run and its attempts. */
export interface AttemptContext {
  readonly host: RunHost;
  readonly budget: Budget;
  readonly recorder: Recorder;
  readonly spans: RunSpans;
  readonly signal: AbortSignal;
  /** Returns what the session, a tool or the model asked for since the run began. */
  readonly getRequest: () => StopRequest | undefined;
}

export interface AttemptOutcome {
  /** The last answer; undefined when there was none. */
  answer: AssistantMessage | undefined;
  /** The entry of that answer. */
  answerEntryId: string;
  /** Why the engine stopped before it was done. */
  request: StopRequest | undefined;
  recovery: Recovery;
  /** Set if extensions added something after the last turn. */
  added: AppliedBoundary | undefined;
}

export class Attempt {
  readonly #context: AttemptContext;
  readonly #nextRequest: NextRequest;
  #answer: AssistantMessage | undefined;
  #answerEntryId = "";
  #request: StopRequest | undefined;
  #recovery: Recovery;
  /** Whether every result of the batch so far asked for the end. */
  #terminates: boolean | undefined;
  /** The entries of the results of this turn. */
  #resultEntryIds: string[] = [];
  #added: AppliedBoundary | undefined;

  constructor(context: AttemptContext, recovery: Recovery) {
    this.#context = context;
    this.#nextRequest = new NextRequest(context, {
      onSpent: (limit) => (this.#request = { kind: "spent", limit }),
      isRetry: recovery.failures > 0 || recovery.changes > 0 || recovery.wasCompacted,
    });
    this.#recovery = recovery;
  }

  /** With `resumes`, it begins with the calls of the last answer that wait for an answer. */
  async run(prompts: readonly AgentMessage[], resumes = false): Promise<AttemptOutcome> {
    const { host, recorder, spans, signal } = this.#context;
    const { systemPrompt, tools } = host.current();
    const context = { systemPrompt: systemPrompt.text, messages: [...host.transcript.messages], tools: [...tools] };
    const config = this.#createConfig();
    const emit = (event: AgentEvent) => {
      const recorded = recorder.record(event, (known) => this.#observe(known));
      if (event.type !== "turn_end" || !host.extensions?.has("turn_end")) return recorded;
      return Promise.resolve(recorded).then(() => this.#emitTurnEnd(event));
    };
    const ask: StreamFn = (...request) => this.#nextRequest.ask(...request);
    try {
      await spans.within(async () => {
        if (resumes) await resumeAgentLoop(context, config, emit, signal, ask);
        else if (prompts.length > 0) await runAgentLoop([...prompts], context, config, emit, signal, ask);
        else await runAgentLoopContinue(context, config, emit, signal, ask);
      });
    } finally {
      // A request that was sent and has no answer: its cost is unknown.
      this.#nextRequest.settle(undefined);
    }
    const questions = host.questions.takeAsked();
    if (questions.length > 0) this.#request = { kind: "asked", end: { kind: "asked", questions } };
    const request = this.#request ?? this.#context.getRequest();
    return {
      answer: this.#answer,
      answerEntryId: this.#answerEntryId,
      request,
      recovery: this.#recovery,
      added: this.#added,
    };
  }

  #createConfig(): AgentLoopConfig {
    const { host, recorder, spans } = this.#context;
    const { inbox, clock, current, settings } = host;
    const { model, thinkingLevel } = current();
    return {
      model,
      ...(thinkingLevel !== "off" && { reasoning: thinkingLevel }),
      clock,
      convertToLlm,
      transformContext: (messages) => this.#nextRequest.select(messages),
      getSteeringMessages: () => [...inbox.take("steer"), ...(host.extensions?.take("steer") ?? [])],
      getFollowUpMessages: () => [...inbox.take("followUp"), ...(host.extensions?.take("followUp") ?? [])],
      shouldStopAfterTurn: () => this.#shouldStop(),
      prepareNextTurn: (turn) => this.#prepareTurn(turn),
      toolExecution: settings().tools.execution,
      findTool: host.findTool,
      aroundToolExecution: (id, execute) => spans.withinCall(id, execute),
      ...createCallHooks(host, recorder),
    };
  }

  /** Extensions may add entries, and ask for one more request. */
  async #emitTurnEnd({ message, toolResults }: AgentEvent & { type: "turn_end" }): Promise<void> {
    const { host, recorder, signal } = this.#context;
    const hasFailed = message.role === "assistant" && message.stopReason === "error";
    const result = await host.extensions?.emit({
      type: "turn_end",
      turnIndex: recorder.turnIndex,
      // Copies, since these are the messages of the conversation.
      message: copyMessage(message),
      toolResults: toolResults.map(copyMessage),
      messageEntryId: this.#answerEntryId,
      toolResultEntryIds: this.#resultEntryIds,
      ...describeBoundary(host, signal.aborted ? "aborted" : hasFailed ? "error" : "completed"),
    });
    this.#resultEntryIds = [];
    this.#added = result && (await applyBoundary(host, result));
  }

  #observe(event: AgentEvent): void {
    const { host, spans } = this.#context;
    switch (event.type) {
      case "message_end":
        if (event.message.role === "assistant") this.#takeAnswer(event.message);
        if (event.message.role === "toolResult") this.#resultEntryIds.push(this.#context.recorder.lastEntryId);
        break;
      case "tool_execution_start":
        spans.startCall(event, host);
        break;
      case "tool_execution_end":
        // Only results that the model gets can end the run, and they include what calls inside them cost.
        if (event.parentToolCallId === undefined) {
          this.#terminates = (this.#terminates ?? true) && event.result.terminate === true;
          if (event.result.usage) this.#context.budget.charge(event.result.usage);
        }
        spans.endCall(event);
        host.endCall(event.toolCallId);
        break;
      case "turn_end":
        this.#endTurn(event.toolResults.length > 0);
        break;
      default:
        break;
    }
  }

  #takeAnswer(answer: AssistantMessage): void {
    const { host, recorder, spans } = this.#context;
    this.#answer = answer;
    this.#answerEntryId = recorder.lastEntryId;
    host.used.takeAnswer(answer);
    this.#nextRequest.settle(countedUsage(answer));
    spans.endRequest(answer);
  }

  #endTurn(hasResults: boolean): void {
    if (this.#answer) {
      this.#recovery = afterAnswer(this.#recovery, this.#answer, {
        hasResults,
        nowMs: this.#context.host.clock.monotonic(),
      });
      // Without a call the run ends, and its end says why.
      if (this.#answer.stopReason === "length" && hasResults) this.#reportCut();
    }
    // A tool that interrupts the run asks for the end in both ways; why it did so is what applies.
    if (hasResults && this.#terminates) {
      this.#request ??= this.#context.getRequest() ?? { kind: "asked", end: { kind: "stopped", by: "terminated" } };
    }
    this.#terminates = undefined;
  }

  #reportCut(): void {
    const message =
      "The answer reached its length limit in the middle of a call, which was not executed. The model was informed.";
    this.#context.host.publisher.fact({ type: "notice", code: "answer_cut", message });
  }

  /** Asked after each turn that may be followed by another. */
  #shouldStop(): boolean {
    const { host, budget, getRequest, recorder, signal } = this.#context;
    // The model is not asked any more, so the next turn would be empty.
    if (signal.aborted || recorder.logFailure !== undefined) return true;
    this.#request ??= getRequest();
    if (this.#request) return true;
    if (isContextFull(host) && host.transcript.tokens >= this.#recovery.compactAgainAt) {
      this.#request = { kind: "full" };
      return true;
    }
    const limit = findSpentLimit(host, budget);
    if (limit !== undefined) this.#request = { kind: "spent", limit };
    return limit !== undefined;
  }

  /** Model, prompt and tools may have changed since the last turn, and jobs may have ended. */
  async #prepareTurn({ context }: TurnContext): Promise<AgentLoopTurnUpdate> {
    const { host } = this.#context;
    if (this.#recovery.failures === 0 && this.#recovery.changes === 0) await host.used.refresh();
    const reports = host.takeReports();
    if (reports.length > 0) {
      const entries = reports.map(({ role: _role, timestamp: _timestamp, ...message }) => ({
        type: "custom_message" as const,
        ...message,
      }));
      this.#added = await applyBoundary(host, { entries });
    }
    await host.takeCalls();
    const { model, thinkingLevel, systemPrompt, tools } = host.current();
    const isSame = !this.#added && context.systemPrompt === systemPrompt.text && isSameList(context.tools ?? [], tools);
    // What extensions added is in the transcript, and the engine has a copy of what was there before.
    const messages = this.#added ? [...host.transcript.messages] : context.messages;
    this.#added = undefined;
    return {
      model,
      thinkingLevel,
      ...(!isSame && { context: { ...context, messages, systemPrompt: systemPrompt.text, tools: [...tools] } }),
    };
  }
}
