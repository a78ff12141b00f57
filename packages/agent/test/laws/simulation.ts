import { type AssistantMessage, AssistantMessageEventStream, emptyUsage, type Message } from "@tau/ai";
import { text } from "@tau/ai/testing";
import { defaultConvertToLlm } from "../../src/convert.ts";
import type {
  AgentContext,
  AgentEvent,
  AgentLoopConfig,
  AgentMessage,
  AgentTool,
  RunningToolCall,
  StreamFn,
} from "../../src/types.ts";
import { checkTranscript, isFailed, isSame, type Observation, type Queued } from "./laws.ts";
import { type Choose, Scheduler } from "./scheduler.ts";
import {
  type Action,
  type AnswerPlan,
  type Behavior,
  type CallPlan,
  deepFreeze,
  type HookPlan,
  type hookNames,
  model,
  parameters,
  plannedError,
  type Script,
  toolNames,
  user,
} from "./script.ts";

/**
 * Simulates the model, tools, hooks and listeners of a script. Violations are recorded rather than thrown: the engine
 * would catch them.
 */
export class Simulation implements Observation {
  readonly script: Script;
  readonly scheduler: Scheduler;
  readonly violations: string[] = [];
  readonly events: AgentEvent[] = [];
  readonly queued: Queued[] = [];
  /** The messages of each request, and a copy of them from that moment. */
  readonly requests: { messages: readonly AgentMessage[]; copy: readonly AgentMessage[] }[] = [];
  /** The transcript according to the events. */
  transcript: AgentMessage[] = [];
  openCalls: string[] = [];
  errorMessage: string | undefined;
  /** The transcript was reset: the remaining events of this run do not change it. */
  isDiscarded = false;
  isOver = false;
  /** How many listeners the simulation itself has added to signals. */
  abortListeners = 0;
  /** A hook or a listener has failed: the run has to end, and to say so. */
  hasFailed = false;
  /** From here on nothing hangs and nothing fails. */
  ignoresScript = false;
  act: (action: Action) => void = () => {};
  signal: () => AbortSignal | undefined = () => undefined;
  /** How many nested calls have no outcome. */
  openNestedCalls = 0;
  /** The call whose tool is about to be executed. */
  #running: RunningToolCall | undefined;
  readonly #plans: CallPlan[] = [];
  readonly #executed = new Set<CallPlan>();
  readonly #denied = new Set<CallPlan>();
  readonly #counts = new Map<string, number>();
  #isHandlingEvent = false;
  #answers = 0;
  #runs = 0;

  constructor(script: Script, choose: Choose) {
    this.script = script;
    this.scheduler = new Scheduler(choose, () => this.hasFailed || this.signal()?.aborted === true);
  }

  /** `detail` is a separate parameter, so that no string is built for a law that holds. */
  check(holds: boolean, violation: string, detail?: string | number): void {
    if (!holds) this.violations.push(detail === undefined ? violation : `${violation} (${detail})`);
  }

  /** Creates a message and records that it was queued. */
  queue(queue: Queued["queue"]): AgentMessage {
    const message = user(`${queue} ${this.queued.length}`);
    this.queued.push({ message, queue, isCleared: false });
    return message;
  }

  #count(name: string): number {
    const count = this.#counts.get(name) ?? 0;
    this.#counts.set(name, count + 1);
    return count;
  }

  /** Like `#behave`, for code whose failure ends the run. */
  #behaveOrFailRun<T>(
    source: string,
    behavior: Behavior | undefined,
    signal: AbortSignal | undefined,
    getValue: () => T,
  ) {
    const run = this.#runs;
    return this.#behave(source, behavior, signal, getValue, () => {
      // Code that fails after its run has abandoned it ends nothing.
      if (run === this.#runs) this.hasFailed = true;
    });
  }

  #behave<T>(
    source: string,
    behavior: Behavior | undefined,
    signal: AbortSignal | undefined,
    getValue: () => T,
    onFailure = () => {},
  ): T | Promise<T> {
    const settle = () => {
      if (!behavior?.fails) return getValue();
      onFailure();
      throw plannedError(source);
    };
    switch (this.ignoresScript ? undefined : behavior?.settles) {
      case "later":
        return this.scheduler.later(source, settle);
      case "never":
        return new Promise<T>(() => {});
      case "onAbort":
        return new Promise<void>((resolve) => {
          const watched = signal ?? this.signal();
          if (watched?.aborted) return resolve();
          this.abortListeners++;
          watched?.addEventListener("abort", () => resolve());
        }).then(settle);
      case "now":
        return settle();
      case undefined:
        return getValue();
    }
  }

  /** The sink, or an agent's first listener. */
  handleEvent(event: AgentEvent, signal?: AbortSignal): void | Promise<void> {
    this.check(!this.#isHandlingEvent, "an event is delivered while another one is being handled", event.type);
    this.check(!this.isOver, "an event comes after the run has ended", event.type);
    this.events.push(event);
    this.#reduce(event);
    const nth = this.#count(event.type);
    const plan = this.script.listeners?.find((listener) => listener.on === event.type && listener.nth === nth);
    this.#isHandlingEvent = true;
    let handling: void | Promise<void> = undefined;
    try {
      if (plan?.action && !this.ignoresScript) this.act(plan.action);
      // The reader of a stream cannot fail the run.
      const behavior = plan && this.script.api === "stream" ? { ...plan.behavior, fails: false } : plan?.behavior;
      handling = this.#behaveOrFailRun(`listener of ${event.type}`, behavior, signal, () => undefined);
    } finally {
      this.#isHandlingEvent = handling !== undefined;
    }
    return handling?.finally(() => {
      this.#isHandlingEvent = false;
    });
  }

  #reduce(event: AgentEvent): void {
    if (event.type === "agent_start") {
      this.scheduler.renewGrace();
      this.#runs++;
      this.hasFailed = false;
      this.isDiscarded = false;
      this.errorMessage = undefined;
    }
    if (event.type === "agent_end" && this.hasFailed) {
      this.check(isFailed(event.messages.at(-1) as AssistantMessage), "a run has failed and does not say so");
    }
    if (this.isDiscarded) return;
    if (event.type === "message_end") this.transcript.push(event.message);
    if (event.type === "tool_execution_start") this.openCalls.push(event.toolCallId);
    if (event.type === "tool_execution_end") this.openCalls.splice(this.openCalls.indexOf(event.toolCallId), 1);
    if (event.type === "turn_end") this.errorMessage = (event.message as AssistantMessage).errorMessage;
  }

  /** Forgets what `Agent.reset` forgets. */
  reset(isRunning: boolean): void {
    this.transcript = [];
    this.openCalls = [];
    this.errorMessage = undefined;
    this.isDiscarded = isRunning;
  }

  readonly streamFn: StreamFn = (_model, { messages }, options) => {
    const { signal } = options ?? {};
    this.check(!signal?.aborted, "the model is asked after the abort");
    this.check(!this.hasFailed, "the model is asked after a hook or a listener failed");
    this.requests.push({ messages, copy: [...messages] });
    // The reader of a stream may lag behind; then the request can only be compared later.
    if (this.script.api !== "stream") {
      this.check(isSame(messages, this.transcript), "a request differs from what the events reported");
      this.check(!this.#isHandlingEvent, "the model is asked while an event is being handled");
    }
    checkTranscript(this, messages, "a request");
    const plan = (this.ignoresScript ? undefined : this.script.answers[this.#answers++]) ?? { arrives: "now" };
    return this.#behave("stream function", plan.opens, signal, () => this.#answer(plan, signal));
  };

  #answer({ arrives, stopsOnAbort, calls = [], ends = "complete" }: AnswerPlan, signal: AbortSignal | undefined) {
    const stream = new AssistantMessageEventStream();
    const partial: AssistantMessage = {
      role: "assistant",
      content: [],
      api: model.api,
      provider: model.provider,
      model: model.id,
      usage: emptyUsage(),
      stopReason: "stop",
      timestamp: 1,
    };
    const begin = () => {
      if (stream.ended) return;
      const block = text("");
      stream.push({ type: "start", partial });
      partial.content.push(block);
      stream.push({ type: "text_start", contentIndex: 0, partial });
      block.text = "hm";
      stream.push({ type: "text_delta", contentIndex: 0, delta: "hm", partial });
      stream.push({ type: "text_end", contentIndex: 0, content: "hm", partial });
    };
    const finish = () => {
      if (stream.ended) return;
      for (const plan of calls) {
        const toolCall = this.#createCall(plan, ends !== "complete");
        const contentIndex = partial.content.push(toolCall) - 1;
        stream.push({ type: "toolcall_start", contentIndex, partial });
        stream.push({ type: "toolcall_end", contentIndex, toolCall, partial });
      }
      if (ends === "cut") return stream.end();
      const stopReason = { complete: calls.length > 0 ? "toolUse" : "stop", length: "length", error: "error" } as const;
      const errorMessage = "planned failure of the model";
      const failure = { errorMessage, failure: { kind: "unknown", message: errorMessage } } as const;
      stream.end(deepFreeze({ ...partial, stopReason: stopReason[ends], ...(ends === "error" && failure) }));
    };
    if (stopsOnAbort) {
      signal?.addEventListener("abort", () => {
        const errorMessage = "The request was aborted.";
        const failure = { kind: "aborted", message: errorMessage } as const;
        stream.end({ ...structuredClone(partial), stopReason: "aborted", errorMessage, failure });
      });
    }
    if (arrives !== "later") begin();
    if (arrives === "now") finish();
    if (arrives === "later") {
      this.scheduler.add("model begins", () => {
        begin();
        this.scheduler.add("model finishes", finish);
      });
    }
    return stream;
  }

  #createCall(plan: CallPlan, isDenied: boolean) {
    const n = this.#plans.push(plan) - 1;
    if (isDenied || (plan.kind ?? "work") !== "work") this.#denied.add(plan);
    const args = plan.kind === "invalid" ? { n: "not a number" } : { n };
    const name = plan.kind === "unknown" ? "none" : toolNames[plan.order ?? "write"];
    return { type: "toolCall" as const, id: plan.id, name, arguments: args };
  }

  readonly #execute: AgentTool["execute"] = (_id, args, signal, onUpdate) => {
    const n = args["n"] as number;
    const plan = this.#plans[n]!;
    this.check(!this.#executed.has(plan), "a call is executed twice");
    this.check(!this.#denied.has(plan), "a call is executed that must not be");
    this.check(!signal?.aborted, "a call is executed after the abort");
    this.check(!this.hasFailed, "a call is executed after a hook or a listener failed");
    this.#executed.add(plan);
    const update = () => onUpdate?.({ content: [text("so far")] });
    for (let left = plan.updates ?? 0; left > 0; left--) this.scheduler.add(`tool ${n} updates`, update);
    if (plan.updatesOnAbort) signal?.addEventListener("abort", update);
    const { terminates: terminate = false, nested = [] } = plan;
    const getResult = () => deepFreeze({ content: [text("done")], details: {}, terminate });
    const running = this.#running;
    const outcomes = nested.map((inner) => this.#callNested(running!, inner));
    const settle = () => this.#behave(`tool ${n}`, plan.tool, signal, getResult);
    return plan.waitsForNested ? Promise.all(outcomes).then(settle) : Promise.resolve(settle());
  };

  async #callNested(running: RunningToolCall, plan: CallPlan): Promise<void> {
    const { name, arguments: args } = this.#createCall(plan, false);
    this.openNestedCalls++;
    try {
      const { isError, errorCode } = await running.callTool(name, args);
      this.check(isError === (errorCode !== undefined), "a nested call has a code without an error, or none with one");
    } catch (error) {
      this.check(false, `a nested call rejects: ${String(error)}`);
    }
    this.openNestedCalls--;
  }

  /** A tool for each order. Frozen: the engine must not change the list. */
  readonly tools = Object.freeze([
    this.#createTool(toolNames.write, {}),
    this.#createTool(toolNames.read, { readOnly: true }),
    this.#createTool(toolNames.unordered, { executionMode: "parallel" }),
  ]) as AgentTool[];

  #createTool(name: string, fields: Pick<AgentTool, "readOnly" | "executionMode">): AgentTool {
    return { name, label: name, description: "", parameters, execute: this.#execute, ...fields };
  }

  /** Only the hooks of the script: without one the loop takes another path. */
  hooks(): Pick<AgentLoopConfig, (typeof hookNames)[number] | "beforeToolCall" | "onToolExecution" | "afterToolCall"> {
    const planned = new Set(this.script.hooks?.map(({ hook }) => hook));
    const call = <T>(hook: HookPlan["hook"], getValue: (plan?: HookPlan) => T, signal?: AbortSignal) => {
      const nth = this.#count(hook);
      const plan = this.script.hooks?.find((item) => item.hook === hook && item.nth === nth && !this.ignoresScript);
      return this.#behaveOrFailRun(hook, plan?.behavior, signal, () => getValue(plan));
    };
    const poll = (queue: Queued["queue"], hook: HookPlan["hook"]) => {
      this.check(!this.signal()?.aborted, `${hook} is polled after the abort`);
      return call(hook, () => (this.scheduler.isGraceOver ? [] : this.#takeWaiting(queue)));
    };
    const calls = this.script.answers.flatMap((answer) => (answer.calls ?? []).flatMap(withNested));
    return {
      ...(calls.some(({ nested }) => nested) && {
        onToolExecution: (running: RunningToolCall) => void (this.#running = running),
      }),
      convertToLlm: planned.has("convertToLlm")
        ? (messages) => call("convertToLlm", () => Object.freeze(defaultConvertToLlm(messages)) as Message[])
        : defaultConvertToLlm,
      ...(planned.has("transformContext") && {
        transformContext: (messages: AgentMessage[], signal?: AbortSignal) =>
          call("transformContext", () => Object.freeze([...messages]) as AgentMessage[], signal),
      }),
      ...(planned.has("getApiKey") && { getApiKey: () => call("getApiKey", () => "key") }),
      ...(planned.has("shouldStopAfterTurn") && {
        shouldStopAfterTurn: () => call("shouldStopAfterTurn", (plan) => plan?.stops === true),
      }),
      ...(planned.has("prepareNextTurn") && {
        prepareNextTurn: ({ context }) =>
          call("prepareNextTurn", () => {
            const { systemPrompt, messages, tools = [] } = context;
            const frozen = { systemPrompt, messages: Object.freeze([...messages]), tools: Object.freeze([...tools]) };
            return { context: Object.freeze(frozen) as AgentContext };
          }),
      }),
      ...(this.script.api !== "agent" && {
        getSteeringMessages: () => poll("steering", "getSteeringMessages"),
        getFollowUpMessages: () => poll("followUp", "getFollowUpMessages"),
      }),
      ...(calls.some(({ guard, blocks }) => guard || blocks) && {
        beforeToolCall: ({ args }, signal) => {
          const { n } = args as { n: number };
          const { guard, blocks } = this.#plans[n]!;
          if (blocks || guard?.fails || guard?.settles === "never") this.#denied.add(this.#plans[n]!);
          return this.#behave(`guard ${n}`, guard, signal, () => (blocks ? { block: true } : undefined));
        },
      }),
      ...(calls.some(({ review }) => review) && {
        afterToolCall: ({ args }, signal) => {
          const { n } = args as { n: number };
          return this.#behave(`review ${n}`, this.#plans[n]!.review, signal, () => deepFreeze({ content: [] }));
        },
      }),
    };
  }

  /** The queues of a caller that has no `Agent`. Messages that were taken have to be reported. */
  readonly waiting: Queued[] = [];

  #takeWaiting(queue: Queued["queue"]): AgentMessage[] {
    const taken = this.waiting.filter((queued) => queued.queue === queue);
    for (const queued of taken) this.waiting.splice(this.waiting.indexOf(queued), 1);
    return deepFreeze(taken.map(({ message }) => message));
  }
}

/** A call, and all that are made in it. */
const withNested = (plan: CallPlan): CallPlan[] => [plan, ...(plan.nested ?? []).flatMap(withNested)];
