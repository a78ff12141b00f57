import { type ImageContent, getErrorMessage, type Model } from "@tau/ai";
import { isThenable } from "./event-order.ts";
import { runAgentLoop, runAgentLoopContinue } from "./agent-loop.ts";
import { AgentSettings, type AgentSettingsOptions, loopSettings } from "./agent-settings.ts";
import { type InitialAgentState, LiveAgentState, createView } from "./agent-state.ts";
import { AgentError } from "./errors.ts";
import { MessageQueue, type QueueMode } from "./queue.ts";
import { emptyAnswer } from "./run.ts";
import type {
  AgentContext,
  AgentEvent,
  AgentLoopConfig,
  AgentLoopTurnUpdate,
  AgentMessage,
  AgentState,
  AgentTool,
  ThinkingLevel,
} from "./types.ts";

export interface AgentOptions extends AgentSettingsOptions {
  initialState?: InitialAgentState;
  /** Default `one-at-a-time`. */
  steeringMode?: QueueMode;
  /** Default `one-at-a-time`. */
  followUpMode?: QueueMode;
}

/** Gets every event, in order; the agent waits for its promise. `signal` is the run's. */
export type AgentListener = (event: AgentEvent, signal: AbortSignal) => void | Promise<void>;

/** What a run is doing, while there is one. */
interface ActiveRun {
  abort: AbortController;
  /** Of `abort`; every event comes with it. */
  signal: AbortSignal;
  idle: Promise<void>;
  /** Steering that interrupts: when this run has ended, the next begins with it. */
  isInterrupted: boolean;
  /** The transcript was reset meanwhile: what this run still says no longer belongs into it. */
  isDiscarded: boolean;
}

/**
 * An agent with a transcript: prompts it, queues what comes meanwhile, and tells its listeners what happens. It throws
 * for misuse only; what goes wrong in a run is a message with `stopReason` `error` or `aborted`.
 */
export class Agent extends AgentSettings {
  readonly #state: LiveAgentState;
  #view: AgentState | undefined;
  readonly #steering: MessageQueue;
  readonly #followUps: MessageQueue;
  /** Replaced, never changed: an event goes to those who listened when it happened. */
  #listeners: readonly AgentListener[] = [];
  #active: ActiveRun | undefined;

  constructor(options: AgentOptions = {}) {
    super(options);
    this.#state = new LiveAgentState(options.initialState);
    this.#steering = new MessageQueue(options.steeringMode ?? "one-at-a-time");
    this.#followUps = new MessageQueue(options.followUpMode ?? "one-at-a-time");
  }

  /** Live. What is assigned to it counts from the next turn on; messages from the next run on. */
  get state(): AgentState {
    this.#view ??= createView(this.#state);
    return this.#view;
  }

  /** The running run's signal. */
  get signal(): AbortSignal | undefined {
    return this.#active?.signal;
  }

  /** Returns a function that ends the subscription. */
  subscribe(listener: AgentListener): () => void {
    if (!this.#listeners.includes(listener)) this.#listeners = [...this.#listeners, listener];
    return () => {
      this.#listeners = this.#listeners.filter((other) => other !== listener);
    };
  }

  /** Starts a run; resolves when it is over. Throws while another is running: then `steer` or `followUp`. */
  async prompt(message: AgentMessage | AgentMessage[]): Promise<void>;
  async prompt(text: string, images?: ImageContent[]): Promise<void>;
  async prompt(input: string | AgentMessage | AgentMessage[], images?: ImageContent[] | null): Promise<void> {
    if (this.#active) {
      throw new AgentError(
        "busy",
        "Agent is already processing a prompt. Use steer() or followUp() to queue messages, or wait for completion.",
      );
    }
    const messages = this.#promptMessages(input, images ?? []);
    await this.#whileActive((signal) => this.#runPrompts(messages, signal, { pollsSteering: true }));
  }

  /** Goes on from the transcript, or from what is queued when its last message is the assistant's. */
  async continue(): Promise<void> {
    if (this.#active) {
      throw new AgentError("busy", "Agent is already processing. Wait for completion before continuing.");
    }
    const last = this.#state.messages.at(-1) as { role: string } | undefined;
    if (!last) throw new AgentError("nothing_to_continue", "No messages to continue from");
    if (last.role !== "assistant") {
      await this.#whileActive((signal) =>
        runAgentLoopContinue(this.#context(), this.#config(true), this.#report, signal, this.streamFn),
      );
      return;
    }
    const steering = this.#steering.drain();
    const queued = steering.length > 0 ? steering : this.#followUps.drain();
    if (queued.length === 0) {
      throw new AgentError("nothing_to_continue", "Cannot continue from message role: assistant");
    }
    // What was just taken from the queue must not bring the rest of it along.
    const pollsSteering = steering.length === 0;
    await this.#whileActive((signal) => this.#runPrompts(queued, signal, { pollsSteering }));
  }

  /** Puts a message in before the next request. With `interrupt`, the running turn is aborted first. */
  steer(message: AgentMessage, { interrupt = false }: { interrupt?: boolean } = {}): void {
    this.#steering.add(message);
    if (!interrupt || !this.#active) return;
    this.#active.isInterrupted = true;
    this.#active.abort.abort(new Error("Interrupted by a steering message."));
  }

  /** Keeps a message until the agent would stop. */
  followUp(message: AgentMessage): void {
    this.#followUps.add(message);
  }

  clearSteeringQueue(): void {
    this.#steering.clear();
  }

  clearFollowUpQueue(): void {
    this.#followUps.clear();
  }

  clearAllQueues(): void {
    this.clearSteeringQueue();
    this.clearFollowUpQueue();
  }

  hasQueuedMessages(): boolean {
    return !this.#steering.isEmpty || !this.#followUps.isEmpty;
  }

  get steeringMode(): QueueMode {
    return this.#steering.mode;
  }

  set steeringMode(mode: QueueMode) {
    this.#steering.mode = mode;
  }

  get followUpMode(): QueueMode {
    return this.#followUps.mode;
  }

  set followUpMode(mode: QueueMode) {
    this.#followUps.mode = mode;
  }

  /** Ends the running run, if there is one. What is queued stays queued. */
  abort(): void {
    if (!this.#active) return;
    this.#active.isInterrupted = false;
    this.#active.abort.abort();
  }

  /** Resolves when nothing is running any more and the listeners of the last event have settled. */
  waitForIdle(): Promise<void> {
    return this.#active?.idle ?? Promise.resolve();
  }

  /** Ends the running run and forgets transcript, queues and failure. Model, prompt and tools stay. */
  reset(): void {
    this.abort();
    if (this.#active) this.#active.isDiscarded = true;
    this.clearAllQueues();
    this.#state.clear();
  }

  setSystemPrompt(systemPrompt: string): void {
    this.#state.systemPrompt = systemPrompt;
  }

  setModel(model: Model): void {
    this.#state.model = model;
  }

  setThinkingLevel(level: ThinkingLevel): void {
    this.#state.thinkingLevel = level;
  }

  setTools(tools: AgentTool[]): void {
    this.#state.tools = tools;
  }

  setSteeringMode(mode: QueueMode): void {
    this.steeringMode = mode;
  }

  getSteeringMode(): QueueMode {
    return this.steeringMode;
  }

  setFollowUpMode(mode: QueueMode): void {
    this.followUpMode = mode;
  }

  getFollowUpMode(): QueueMode {
    return this.followUpMode;
  }

  replaceMessages(messages: AgentMessage[]): void {
    this.#state.messages = messages;
  }

  appendMessage(message: AgentMessage): void {
    this.#state.messages.push(message);
  }

  clearMessages(): void {
    this.#state.messages = [];
  }

  #promptMessages(input: string | AgentMessage | AgentMessage[], images: readonly ImageContent[]): AgentMessage[] {
    if (Array.isArray(input)) return input;
    if (typeof input !== "string") return [input];
    return [{ role: "user", content: [{ type: "text", text: input }, ...images], timestamp: this.clock.now() }];
  }

  /** Runs, and runs again for as long as steering interrupts. Busy from the first line to the last. */
  async #whileActive(run: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
    let becomeIdle = () => {};
    const idle = new Promise<void>((resolve) => {
      becomeIdle = resolve;
    });
    let next: ((signal: AbortSignal) => Promise<unknown>) | undefined = run;
    while (next) {
      const abort = new AbortController();
      const active: ActiveRun = { abort, signal: abort.signal, idle, isInterrupted: false, isDiscarded: false };
      this.#active = active;
      this.#state.begin();
      try {
        await next(active.signal);
      } catch (error) {
        await this.#reportFailure(error);
      }
      const messages: AgentMessage[] = active.isInterrupted ? this.#steering.drain() : [];
      next = messages.length > 0 ? (signal) => this.#runPrompts(messages, signal, { pollsSteering: false }) : undefined;
    }
    this.#state.finish();
    this.#active = undefined;
    becomeIdle();
  }

  #runPrompts(
    messages: AgentMessage[],
    signal: AbortSignal,
    { pollsSteering }: { pollsSteering: boolean },
  ): Promise<unknown> {
    const config = this.#config(pollsSteering);
    return runAgentLoop(messages, this.#context(), config, this.#report, signal, this.streamFn);
  }

  #context() {
    const { systemPrompt, messages, tools } = this.#state;
    return { systemPrompt, messages, tools };
  }

  /** `pollsSteering` false leaves the queue alone until the first turn is over. */
  #config(pollsSteering: boolean): AgentLoopConfig {
    let skipsPoll = !pollsSteering;
    const { model, thinkingLevel } = this.#state;
    const nextTurn = this.#turnUpdates();
    return {
      ...loopSettings(this),
      model,
      ...(thinkingLevel !== "off" && { reasoning: thinkingLevel }),
      prepareNextTurn: nextTurn,
      getSteeringMessages: () => {
        if (!skipsPoll) return this.#steering.drain();
        skipsPoll = false;
        return [];
      },
      getFollowUpMessages: () => this.#followUps.drain(),
    };
  }

  /** What was set on the agent since the last turn counts for the next; the hook has the last word. */
  #turnUpdates(): NonNullable<AgentLoopConfig["prepareNextTurn"]> {
    let known = this.#settable();
    return (turn) => {
      let update: AgentLoopTurnUpdate | undefined;
      if (!this.#isStill(known)) {
        const now = this.#settable();
        update = changesBetween(known, now, turn.context);
        known = now;
      }
      const changed = this.prepareNextTurn?.(turn);
      return changed ? Promise.resolve(changed).then((more) => ({ ...update, ...more })) : update;
    };
  }

  /** Most turns change nothing, and then nothing is copied. */
  #isStill(known: Settable): boolean {
    const { model, thinkingLevel, systemPrompt, tools } = this.#state;
    return (
      model === known.model &&
      thinkingLevel === known.thinkingLevel &&
      systemPrompt === known.systemPrompt &&
      sameTools(tools, known.tools)
    );
  }

  #settable(): Settable {
    const { model, thinkingLevel, systemPrompt, tools } = this.#state;
    return { model, thinkingLevel, systemPrompt, tools: [...tools] };
  }

  /** Takes an event into the state, then tells the listeners. */
  readonly #report = (event: AgentEvent): void | Promise<void> => {
    const active = this.#active;
    if (!active) return undefined;
    if (!active.isDiscarded) this.#state.apply(event);
    return tell(this.#listeners, event, active.signal);
  };

  /** The last wall: the loop does not throw, but if it did, the run would still end as every run ends. */
  async #reportFailure(error: unknown): Promise<void> {
    const { model } = this.#state;
    const errorMessage = getErrorMessage(error);
    const message: AgentMessage = {
      ...emptyAnswer(model, this.clock.now()),
      stopReason: "error",
      errorMessage,
      failure: { kind: "unknown", message: errorMessage },
    };
    this.#state.messages.push(message);
    this.#state.apply({ type: "turn_end", message, toolResults: [] });
    try {
      await this.#report({ type: "agent_end", messages: [message] });
    } catch (listenerError) {
      // Nothing is left to end: that the listener failed too is said beside what failed first.
      const both = `${errorMessage} (and a listener failed: ${getErrorMessage(listenerError)})`;
      this.#state.apply({ type: "turn_end", message: { ...message, errorMessage: both }, toolResults: [] });
    }
  }
}

/** Tells all listeners, in order, also when one of them fails; then fails with the first failure. */
function tell(listeners: readonly AgentListener[], event: AgentEvent, signal: AbortSignal): void | Promise<void> {
  for (let at = 0; at < listeners.length; at++) {
    // As long as nobody asks to be waited for, there is nothing to wait for: a million deltas pass this way.
    let waiting: void | Promise<void>;
    try {
      waiting = listeners[at]!(event, signal);
    } catch (error) {
      waiting = Promise.reject(error);
    }
    if (isThenable(waiting)) return tellRest(waiting, listeners.slice(at + 1), event, signal);
  }
}

async function tellRest(
  first: Promise<void>,
  rest: readonly AgentListener[],
  event: AgentEvent,
  signal: AbortSignal,
): Promise<void> {
  const [outcome] = await Promise.allSettled([first]);
  await tell(rest, event, signal);
  if (outcome.status === "rejected") throw outcome.reason;
}

/** What may be set on an agent while it runs. */
type Settable = Readonly<Pick<AgentState, "model" | "thinkingLevel" | "systemPrompt" | "tools">>;

function changesBetween(known: Settable, now: Settable, context: AgentContext): AgentLoopTurnUpdate {
  const { systemPrompt, tools } = now;
  const hasContext = systemPrompt !== known.systemPrompt || !sameTools(tools, known.tools);
  return {
    ...(now.model !== known.model && { model: now.model }),
    ...(now.thinkingLevel !== known.thinkingLevel && { thinkingLevel: now.thinkingLevel }),
    ...(hasContext && { context: { ...context, systemPrompt, tools } }),
  };
}

const sameTools = (a: readonly AgentTool[], b: readonly AgentTool[]) =>
  a.length === b.length && a.every((tool, at) => tool === b[at]);
