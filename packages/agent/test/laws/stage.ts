import { type AssistantMessage, AssistantMessageEventStream, emptyUsage, type Message } from "@tau/ai";
import { text } from "@tau/ai/testing";
import { defaultConvertToLlm } from "../../src/convert.ts";
import type { AgentContext, AgentEvent, AgentLoopConfig, AgentMessage, AgentTool, StreamFn } from "../../src/types.ts";
import { checkTranscript, isFailed, isSame, type Sent, type Told } from "./laws.ts";
import { type Choose, Scheduler } from "./scheduler.ts";
import {
  type Action,
  type AnswerPlan,
  boom,
  type CallPlan,
  type Conduct,
  deepFreeze,
  type HookPlan,
  type hookNames,
  model,
  parameters,
  type Script,
  user,
} from "./script.ts";

/** One performance of a script. What breaks a law is noted: thrown, it would end in somebody's catch. */
export class Stage implements Told {
  readonly script: Script;
  readonly scheduler: Scheduler;
  readonly broken: string[] = [];
  readonly events: AgentEvent[] = [];
  readonly sent: Sent[] = [];
  /** What the model was given, and a copy of it from that moment. */
  readonly requests: { given: readonly AgentMessage[]; asked: readonly AgentMessage[] }[] = [];
  /** The transcript as the events tell it. */
  said: AgentMessage[] = [];
  openCalls: string[] = [];
  error: string | undefined;
  /** The transcript was forgotten: the events of this run no longer count. */
  isDiscarded = false;
  isOver = false;
  /** How many of the script's own people listen to a signal. */
  watching = 0;
  /** A hook or a listener has failed: the run has to end, and to say so. */
  isBroken = false;
  /** From here on everybody behaves. */
  isCalm = false;
  act: (action: Action) => void = () => {};
  signal: () => AbortSignal | undefined = () => undefined;
  readonly #plans: CallPlan[] = [];
  readonly #executed = new Set<CallPlan>();
  readonly #denied = new Set<CallPlan>();
  readonly #counts = new Map<string, number>();
  #isTelling = false;
  #answers = 0;
  #runs = 0;

  constructor(script: Script, choose: Choose) {
    this.script = script;
    this.scheduler = new Scheduler(choose);
  }

  /** `where` is told apart, so that nothing is put together for a law that holds. */
  note(isFine: boolean, law: string, where?: string | number): void {
    if (!isFine) this.broken.push(where === undefined ? law : `${law} (${where})`);
  }

  send(queue: Sent["queue"]): AgentMessage {
    const message = user(`${queue} ${this.sent.length}`);
    this.sent.push({ message, queue, isCleared: false });
    return message;
  }

  #count(name: string): number {
    const count = this.#counts.get(name) ?? 0;
    this.#counts.set(name, count + 1);
    return count;
  }

  /** As `#behave`, for those whose failure ends the run. */
  #matter<T>(who: string, conduct: Conduct | undefined, signal: AbortSignal | undefined, give: () => T) {
    const run = this.#runs;
    return this.#behave(who, conduct, signal, give, () => {
      // One that fails late, when its run has given it up, breaks nothing.
      if (run === this.#runs) this.isBroken = true;
    });
  }

  /** Behaves as planned. */
  #behave<T>(
    who: string,
    conduct: Conduct | undefined,
    signal: AbortSignal | undefined,
    give: () => T,
    onFailure = () => {},
  ): T | Promise<T> {
    const settle = () => {
      if (!conduct?.fails) return give();
      onFailure();
      throw boom(who);
    };
    switch (this.isCalm ? undefined : conduct?.settles) {
      case "later":
        return this.scheduler.later(who, settle);
      case "never":
        return new Promise<T>(() => {});
      case "onAbort":
        return new Promise<void>((resolve) => {
          const watched = signal ?? this.signal();
          if (watched?.aborted) return resolve();
          this.watching++;
          watched?.addEventListener("abort", () => resolve());
        }).then(settle);
      case "now":
        return settle();
      case undefined:
        return give();
    }
  }

  /** The sink, or an agent's first listener. */
  hear(event: AgentEvent, signal?: AbortSignal): void | Promise<void> {
    this.note(!this.#isTelling, "an event is told while another one is", event.type);
    this.note(!this.isOver, "an event comes after the run was over", event.type);
    this.events.push(event);
    this.#reduce(event);
    const nth = this.#count(event.type);
    const plan = this.script.listeners?.find((one) => one.on === event.type && one.nth === nth);
    this.#isTelling = true;
    let told: void | Promise<void> = undefined;
    try {
      if (plan?.does && !this.isCalm) this.act(plan.does);
      // Who reads a stream and fails, fails alone.
      const conduct = plan && this.script.face === "stream" ? { ...plan.conduct, fails: false } : plan?.conduct;
      told = this.#matter(`listener of ${event.type}`, conduct, signal, () => undefined);
    } finally {
      this.#isTelling = told !== undefined;
    }
    return told?.finally(() => {
      this.#isTelling = false;
    });
  }

  #reduce(event: AgentEvent): void {
    if (event.type === "agent_start") {
      this.scheduler.renewGrace();
      this.#runs++;
      this.isBroken = false;
      this.isDiscarded = false;
      this.error = undefined;
    }
    if (event.type === "agent_end" && this.isBroken) {
      this.note(isFailed(event.messages.at(-1) as AssistantMessage), "a run is broken and does not say so");
    }
    if (this.isDiscarded) return;
    if (event.type === "message_end") this.said.push(event.message);
    if (event.type === "tool_execution_start") this.openCalls.push(event.toolCallId);
    if (event.type === "tool_execution_end") this.openCalls.splice(this.openCalls.indexOf(event.toolCallId), 1);
    if (event.type === "turn_end") this.error = (event.message as AssistantMessage).errorMessage;
  }

  /** Forgets what an agent forgets. */
  forget(isRunning: boolean): void {
    this.said = [];
    this.openCalls = [];
    this.error = undefined;
    this.isDiscarded = isRunning;
  }

  readonly streamFn: StreamFn = (_model, { messages }, options) => {
    const { signal } = options ?? {};
    this.note(!signal?.aborted, "the model is asked after the abort");
    this.note(!this.isBroken, "the model is asked after a hook or a listener failed");
    this.requests.push({ given: messages, asked: [...messages] });
    // Who reads a stream may lag behind; then the request can only be compared later.
    if (this.script.face !== "stream") {
      this.note(isSame(messages, this.said), "a request differs from what the events told");
      this.note(!this.#isTelling, "the model is asked while an event is told");
    }
    checkTranscript(this, messages, "a request");
    const plan = (this.isCalm ? undefined : this.script.answers[this.#answers++]) ?? { speaks: "now" };
    return this.#behave("stream function", plan.opens, signal, () => this.#speak(plan, signal));
  };

  #speak({ speaks, obeys, calls = [], ends = "well" }: AnswerPlan, signal: AbortSignal | undefined) {
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
        const toolCall = this.#getCall(plan, ends !== "well");
        const contentIndex = partial.content.push(toolCall) - 1;
        stream.push({ type: "toolcall_start", contentIndex, partial });
        stream.push({ type: "toolcall_end", contentIndex, toolCall, partial });
      }
      if (ends === "cut") return stream.end();
      const stopReason = { well: calls.length > 0 ? "toolUse" : "stop", length: "length", error: "error" } as const;
      const errorMessage = "boom from the model";
      const failure = { errorMessage, failure: { kind: "unknown", message: errorMessage } } as const;
      stream.end(deepFreeze({ ...partial, stopReason: stopReason[ends], ...(ends === "error" && failure) }));
    };
    if (obeys) {
      signal?.addEventListener("abort", () => {
        const errorMessage = "The request was aborted.";
        const failure = { kind: "aborted", message: errorMessage } as const;
        stream.end({ ...structuredClone(partial), stopReason: "aborted", errorMessage, failure });
      });
    }
    if (speaks !== "later") begin();
    if (speaks === "now") finish();
    if (speaks === "later") {
      this.scheduler.add("model begins", () => {
        begin();
        this.scheduler.add("model finishes", finish);
      });
    }
    return stream;
  }

  #getCall(plan: CallPlan, isDenied: boolean) {
    const n = this.#plans.push(plan) - 1;
    if (isDenied || (plan.kind ?? "work") !== "work") this.#denied.add(plan);
    const args = plan.kind === "invalid" ? { n: "not a number" } : { n };
    return { type: "toolCall" as const, id: plan.id, name: plan.kind === "unknown" ? "none" : "work", arguments: args };
  }

  readonly tool: AgentTool = {
    name: "work",
    label: "Work",
    description: "",
    parameters,
    execute: (_id, args, signal, onUpdate) => {
      const n = args["n"] as number;
      const plan = this.#plans[n]!;
      this.note(!this.#executed.has(plan), "a call is executed twice");
      this.note(!this.#denied.has(plan), "a call is executed that must not be");
      this.note(!signal?.aborted, "a call is executed after the abort");
      this.note(!this.isBroken, "a call is executed after a hook or a listener failed");
      this.#executed.add(plan);
      const update = () => onUpdate?.({ content: [text("so far")] });
      for (let left = plan.updates ?? 0; left > 0; left--) this.scheduler.add(`tool ${n} updates`, update);
      if (plan.updatesOnAbort) signal?.addEventListener("abort", update);
      const { terminates: terminate = false } = plan;
      const give = () => deepFreeze({ content: [text("done")], details: {}, terminate });
      return Promise.resolve(this.#behave(`tool ${n}`, plan.tool, signal, give));
    },
  };

  /** The hooks that the script speaks of, and no others: without one the loop takes another path. */
  hooks(): Pick<AgentLoopConfig, (typeof hookNames)[number] | "beforeToolCall" | "afterToolCall"> {
    const planned = new Set(this.script.hooks?.map(({ hook }) => hook));
    const call = <T>(hook: HookPlan["hook"], give: (plan?: HookPlan) => T, signal?: AbortSignal) => {
      const nth = this.#count(hook);
      const plan = this.isCalm ? undefined : this.script.hooks?.find((one) => one.hook === hook && one.nth === nth);
      return this.#matter(hook, plan?.conduct, signal, () => give(plan));
    };
    const poll = (queue: Sent["queue"], hook: HookPlan["hook"]) => {
      this.note(!this.signal()?.aborted, `${hook} is polled after the abort`);
      return call(hook, () => (this.scheduler.isGraceOver ? [] : this.#take(queue)));
    };
    const calls = this.script.answers.flatMap((answer) => answer.calls ?? []);
    return {
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
      ...(this.script.face !== "agent" && {
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

  /** What a caller of the bare loop has queued: taken, it has to be said. */
  readonly queued: Sent[] = [];

  #take(queue: Sent["queue"]): AgentMessage[] {
    const taken = this.queued.filter((one) => one.queue === queue);
    for (const one of taken) this.queued.splice(this.queued.indexOf(one), 1);
    return deepFreeze(taken.map(({ message }) => message));
  }
}
