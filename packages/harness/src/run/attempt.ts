/** One run of the engine, from prompts until it stops. A run of the session is one or more attempts. */
import { isDeepStrictEqual } from "node:util";
import {
  type AfterToolCallContext,
  type AfterToolCallResult,
  type AgentEvent,
  type AgentLoopConfig,
  type AgentLoopTurnUpdate,
  type AgentMessage,
  type AgentToolResult,
  type BeforeToolCallContext,
  type BeforeToolCallResult,
  runAgentLoop,
  runAgentLoopContinue,
  type StreamFn,
  type TurnContext,
} from "@tau/agent";
import type { AssistantMessage } from "@tau/ai";
import { isSameList } from "@tau/ai/internal";
import { resolvePath } from "@tau/tools";
import { type Budget, countedUsage, type Reservation } from "../budget/budget.ts";
import type { ExtensionHooks } from "@tau/extensions";
import { boundResult, maxResultCharacters } from "../request/bound.ts";
import { failedStream } from "../request/request.ts";
import { messagesToSend } from "../request/select-messages.ts";
import { convertToLlm } from "../session/message.ts";
import { type AppliedBoundary, applyBoundary, describeBoundary } from "./boundary.ts";
import { findSpentLimit, isContextFull, reserveRequest } from "./context-size.ts";
import { isValidChange } from "@tau/extensions/internal";
import { copyData, copyMessage, copyMessages } from "./copy-messages.ts";
import type { StopRequest } from "./next-step.ts";
import { afterAnswer, type Recovery } from "./recovery.ts";
import type { Recorder } from "./recorder.ts";
import type { RunHost } from "./run-host.ts";
import type { RunSpans } from "./run-spans.ts";

/** The system prompt as handlers of `context_with_system` see it. */
interface SystemMessage {
  role: "system";
  content: string;
  timestamp: number;
}

/** What a run shares with its attempts. */
export interface AttemptContext {
  readonly host: RunHost;
  readonly budget: Budget;
  readonly recorder: Recorder;
  readonly spans: RunSpans;
  readonly signal: AbortSignal;
  /** What the session, a tool or the model asked for since the run began. */
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
  /** What extensions added after the last turn. */
  added: AppliedBoundary | undefined;
}

export class Attempt {
  readonly #context: AttemptContext;
  #answer: AssistantMessage | undefined;
  #answerEntryId = "";
  #request: StopRequest | undefined;
  #recovery: Recovery;
  /** Whether every result of the batch so far asked for the end. */
  #terminates: boolean | undefined;
  /** The messages of the request that is being prepared. */
  #sending: readonly AgentMessage[] = [];
  #reservation: Reservation | undefined;
  /** The entries of the results of this turn. */
  #resultEntryIds: string[] = [];
  #added: AppliedBoundary | undefined;
  /** The system prompt of the request that is being prepared, if extensions changed it. */
  #prompt: string | undefined;

  constructor(context: AttemptContext, recovery: Recovery) {
    this.#context = context;
    this.#recovery = recovery;
  }

  async run(prompts: readonly AgentMessage[]): Promise<AttemptOutcome> {
    const { host, recorder, spans, signal } = this.#context;
    const { systemPrompt, tools } = host.current();
    const context = { systemPrompt: systemPrompt.text, messages: [...host.transcript.messages], tools: [...tools] };
    const config = this.#createConfig();
    const emit = (event: AgentEvent) => {
      const recorded = recorder.record(event, (known) => this.#observe(known));
      if (event.type !== "turn_end" || !host.extensions?.has("turn_end")) return recorded;
      return Promise.resolve(recorded).then(() => this.#tellTurnEnd(event));
    };
    const ask: StreamFn = (...request) => this.#ask(...request);
    try {
      await spans.within(async () => {
        if (prompts.length > 0) await runAgentLoop([...prompts], context, config, emit, signal, ask);
        else await runAgentLoopContinue(context, config, emit, signal, ask);
      });
    } finally {
      // A request that was sent and has no answer: its cost is unknown.
      this.#reservation?.settle(undefined);
    }
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
    const { host } = this.#context;
    const { inbox, clock, current, settings, calls } = host;
    const { model, thinkingLevel } = current();
    return {
      model,
      ...(thinkingLevel !== "off" && { reasoning: thinkingLevel }),
      clock,
      convertToLlm,
      transformContext: (messages) => this.#select(messages),
      getSteeringMessages: () => [...inbox.take("steer"), ...(host.extensions?.take("steer") ?? [])],
      getFollowUpMessages: () => [...inbox.take("followUp"), ...(host.extensions?.take("followUp") ?? [])],
      shouldStopAfterTurn: () => this.#shouldStop(),
      prepareNextTurn: (turn) => this.#prepareTurn(turn),
      toolExecution: settings().tools.execution,
      beforeToolCall: async (call, abort) => {
        const verdict = await this.#guard(call, abort);
        // Not before: if the program ends while a person is asked, the call has done nothing.
        if (!verdict?.block) await this.#context.recorder.recordCallStart(call);
        return verdict;
      },
      onToolExecution: (call) => calls.add(call),
      afterToolCall: (call) => this.#review(call),
    };
  }

  /** The messages that are sent: bounded, pruned, without images where the settings say so. */
  async #select(messages: readonly AgentMessage[]): Promise<AgentMessage[]> {
    const { settings, current, extensions } = this.#context.host;
    const { pruning, images } = settings();
    const selected = messagesToSend(messages, current().model, { pruning, blockImages: images.blockImages });
    const isOffered = extensions?.has("context") || extensions?.has("context_with_system");
    const sending = isOffered ? await this.#offer(extensions!, selected) : selected;
    // What extensions add at the end is not there any more with the next request, and breaks no cache.
    this.#sending = startsWith(sending, selected) ? selected : sending;
    return sending;
  }

  /** Handlers may change the list, and messages in place: they get copies, since these are those of the transcript. */
  async #offer(extensions: ExtensionHooks, selected: AgentMessage[]): Promise<AgentMessage[]> {
    let sending = selected;
    const copy = extensions.has("context") ? copyMessages(selected) : undefined;
    if (copy) {
      const answer = await extensions.emit({ type: "context", messages: copy });
      // What handlers changed in place was not looked at when they answered.
      sending = answer?.messages ?? (isValidChange("context", "messages", selected, copy) ? copy : selected);
    }
    if (extensions.has("context_with_system")) sending = await this.#showPrompt(extensions, sending);
    if (!startsWith(sending, selected)) {
      const names = [...extensions.listHandlers("context"), ...extensions.listHandlers("context_with_system")];
      this.#context.host.sent.setReason(`These extensions changed the conversation: ${[...new Set(names)].join(", ")}`);
    }
    return sending;
  }

  /** Handlers see the system prompt as the first message, and what they leave of it is sent. */
  async #showPrompt(extensions: ExtensionHooks, sending: AgentMessage[]): Promise<AgentMessage[]> {
    const { clock, current } = this.#context.host;
    const system: SystemMessage = { role: "system", content: current().systemPrompt.text, timestamp: clock.now() };
    const messages = [system, ...copyMessages(sending)] as AgentMessage[];
    const changed = await extensions.emit({ type: "context_with_system", messages });
    if (!changed?.messages) return sending;
    const isSystem = (message: AgentMessage) => (message.role as string) === "system";
    const prompts = changed.messages.filter(isSystem) as unknown as SystemMessage[];
    this.#prompt = prompts.map(({ content }) => content).join("\n\n");
    return changed.messages.filter((message) => !isSystem(message));
  }

  /** Extensions may change the arguments or block the call; then the policy judges what is left to do. */
  async #guard(call: BeforeToolCallContext, signal?: AbortSignal): Promise<BeforeToolCallResult | undefined> {
    const { extensions, judge } = this.#context.host;
    if (extensions?.has("tool_call")) {
      const { id: toolCallId, name: toolName } = call.toolCall;
      const input = call.args as Record<string, unknown>;
      const verdict = await extensions.emit({ type: "tool_call", toolCallId, toolName, input, ...getParent(call) });
      if (verdict?.block) return verdict;
    }
    const denied = await extensions?.judgeChanged(call, signal);
    if (denied?.block) return denied;
    return await judge(call, signal);
  }

  /** Extensions may add to the result and change it. Then it is bounded. */
  async #review(given: AfterToolCallContext): Promise<AfterToolCallResult | undefined> {
    const { extensions } = this.#context.host;
    const added = await this.#tellChangedFiles(given);
    // Before `tool_result`: its handlers see all that the model would get.
    const call = added
      ? { ...given, result: { ...given.result, content: [...given.result.content, ...added] } }
      : given;
    const { toolCall, args, result, isError } = call;
    if (!extensions?.has("tool_result")) {
      const bounded = await this.#bound(call);
      return added ? { content: result.content, ...bounded } : bounded;
    }
    const changed = await extensions.emit({
      type: "tool_result",
      toolCallId: toolCall.id,
      toolName: toolCall.name,
      input: copyData(args as Record<string, unknown>),
      content: copyData(result.content),
      details: copyData(result.details),
      isError,
      ...getParent(call),
    });
    if (!changed && !added) return await this.#bound(call);
    const { content = result.content, details = result.details } = changed ?? {};
    const bounded = await this.#bound({ ...call, result: { ...result, content, details } });
    return { content, details, ...(changed?.isError !== undefined && { isError: changed.isError }), ...bounded };
  }

  /** What extensions add to the result of a call that changed files. */
  async #tellChangedFiles(call: AfterToolCallContext): Promise<AgentToolResult["content"] | undefined> {
    const { extensions, touches, cwd } = this.#context.host;
    if (call.isError || !extensions?.has("files_changed")) return undefined;
    const { id: toolCallId, name: toolName } = call.toolCall;
    const touched = touches({ ...call.toolCall, arguments: call.args as Record<string, unknown> });
    if (!touched || touched.modified.length === 0) return undefined;
    const paths = [...new Set(touched.modified.map((path) => resolvePath(cwd, path)))];
    const answer = await extensions.emit({ type: "files_changed", paths, toolCallId, toolName, ...getParent(call) });
    return answer?.content?.length ? answer.content : undefined;
  }

  /** Extensions may add entries, and ask for one more request. */
  async #tellTurnEnd({ message, toolResults }: AgentEvent & { type: "turn_end" }): Promise<void> {
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

  /** Reserves what the request may cost, and reports when its prefix differs from the last one's. */
  async #ask(...[model, context, options]: Parameters<StreamFn>) {
    const { host, budget, spans, recorder } = this.#context;
    recorder.startTurn(context.messages);
    const grant = reserveRequest(host, budget);
    if (grant.kind === "spent") {
      this.#request = { kind: "spent", limit: grant.limit };
      return failedStream(model, { kind: "refused", message: grant.message }, host.clock.now());
    }
    this.#reservation = grant.reservation;
    await host.sent.update(host, { model, messages: this.#sending });
    spans.startRequest(model);
    const { maxTokens } = grant;
    const systemPrompt = this.#prompt ?? context.systemPrompt;
    this.#prompt = undefined;
    return await host.ask(
      model,
      { ...context, ...(systemPrompt !== undefined && { systemPrompt }) },
      { ...options, ...(maxTokens !== undefined && { maxTokens }) },
    );
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
        // Only results that the model gets can end the run.
        if (event.parentToolCallId === undefined)
          this.#terminates = (this.#terminates ?? true) && event.result.terminate === true;
        spans.endCall(event.toolCallId, event.isError);
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
    const { recorder, spans } = this.#context;
    this.#answer = answer;
    this.#answerEntryId = recorder.lastEntryId;
    this.#reservation?.settle(countedUsage(answer));
    this.#reservation = undefined;
    spans.endRequest(answer);
  }

  #endTurn(hasResults: boolean): void {
    if (this.#answer) {
      this.#recovery = afterAnswer(this.#recovery, this.#answer, {
        hasResults,
        nowMs: this.#context.host.clock.monotonic(),
      });
      // Without a call the run ends, and its end says why.
      if (this.#answer.stopReason === "length" && hasResults) this.#tellCut();
    }
    // A tool that interrupts the run asks for the end in both ways; why it did so is what counts.
    if (hasResults && this.#terminates) {
      this.#request ??= this.#context.getRequest() ?? { kind: "asked", end: { kind: "stopped", by: "terminated" } };
    }
    this.#terminates = undefined;
  }

  #tellCut(): void {
    const message =
      "The answer reached its length limit in the middle of a call, which was not executed. The model was told.";
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
    const reports = host.takeReports();
    if (reports.length > 0) {
      const entries = reports.map(({ role: _role, timestamp: _timestamp, ...message }) => ({
        type: "custom_message" as const,
        ...message,
      }));
      this.#added = await applyBoundary(host, { entries });
    }
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

  /** Bounds a result to what a request can carry, and adds what the user said when they allowed the call. */
  async #bound({ toolCall, result }: AfterToolCallContext): Promise<AfterToolCallResult | undefined> {
    const { current, keep, getCallMessage } = this.#context.host;
    const content = await boundResult(result, { maxCharacters: maxResultCharacters(current().model), save: keep });
    const message = getCallMessage(toolCall.id);
    if (message === undefined) return content && { content };
    return {
      content: [...(content ?? result.content), { type: "text", text: `The user allowed this call: ${message}` }],
    };
  }
}

const getParent = ({ parentToolCallId }: Pick<BeforeToolCallContext, "parentToolCallId">) =>
  parentToolCallId !== undefined && { parentToolCallId };

/** Whether the first messages of a list say the same as another one. */
const startsWith = (messages: readonly AgentMessage[], first: readonly AgentMessage[]): boolean =>
  messages === first ||
  (messages.length >= first.length && first.every((message, index) => isDeepStrictEqual(message, messages[index])));
