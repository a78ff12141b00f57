import { type ImageContent, type Model } from "@tau/ai";
import { createAssistantMessage, getErrorMessage, isRecord, isSameList, withFailure } from "@tau/ai/internal";
import { isThenable } from "./event-order.ts";
import { runAgentLoop } from "./agent-loop.ts";
import { AgentSettings, type AgentSettingsOptions, toLoopConfig } from "./agent-settings.ts";
import { type InitialAgentState, LiveAgentState } from "./agent-state.ts";
import { AgentError } from "./errors.ts";
import { MessageQueue, type QueueMode } from "./queue.ts";
import type {
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

/** Is called with every event, in order; the agent waits for its promise. `signal` is the run's. */
export type AgentListener = (event: AgentEvent, signal: AbortSignal) => void | Promise<void>;

/** The run in progress. */
interface ActiveRun {
  readonly abort: AbortController;
  /** Resolves when the agent is idle again. */
  readonly idle: Promise<void>;
  /** A steering message interrupted the run: the next run starts with it. */
  isInterrupted: boolean;
  /** The transcript was reset: the remaining events of this run no longer change the state. */
  isDiscarded: boolean;
}

/**
 * An agent with a transcript. It runs prompts, queues messages that come meanwhile, and notifies its listeners. It
 * throws for misuse only: a failure in a run becomes a message with `stopReason` `error` or `aborted`.
 */
export class Agent extends AgentSettings {
  readonly #live: LiveAgentState;
  readonly #steering: MessageQueue;
  readonly #followUps: MessageQueue;
  /** Replaced, never changed: an event goes to the listeners of the moment when it happened. */
  #listeners: readonly AgentListener[] = [];
  #active: ActiveRun | undefined;

  constructor(options: AgentOptions = {}) {
    super(options);
    this.#live = new LiveAgentState(options.initialState);
    this.#steering = new MessageQueue(options.steeringMode ?? "one-at-a-time");
    this.#followUps = new MessageQueue(options.followUpMode ?? "one-at-a-time");
  }

  /** Live. Assigned fields take effect in the next turn; assigned messages in the next run. */
  get state(): AgentState {
    return this.#live.fields;
  }

  /** The signal of the run in progress. */
  get signal(): AbortSignal | undefined {
    return this.#active?.abort.signal;
  }

  /** Returns a function that ends the subscription. */
  subscribe(listener: AgentListener): () => void {
    if (!this.#listeners.includes(listener)) this.#listeners = [...this.#listeners, listener];
    return () => {
      this.#listeners = this.#listeners.filter((other) => other !== listener);
    };
  }

  /** Starts a run; resolves when it has ended. Throws if one is in progress: then use `steer` or `followUp`. */
  async prompt(message: AgentMessage | AgentMessage[]): Promise<void>;
  async prompt(text: string, images?: ImageContent[]): Promise<void>;
  async prompt(input: string | AgentMessage | AgentMessage[], images?: ImageContent[] | null): Promise<void> {
    if (this.#active) {
      throw new AgentError(
        "busy",
        "Agent is already processing a prompt. Use steer() or followUp() to queue messages, or wait for completion.",
      );
    }
    await this.#run(this.#toMessages(input, images ?? []), { pollsSteering: true });
  }

  /** Continues from the transcript, or from queued messages if the last message is the assistant's. */
  async continue(): Promise<void> {
    if (this.#active) {
      throw new AgentError("busy", "Agent is already processing. Wait for completion before continuing.");
    }
    const last = this.state.messages.at(-1) as { role: string } | undefined;
    if (!last) throw new AgentError("nothing_to_continue", "No messages to continue from");
    if (last.role !== "assistant") return await this.#run([], { pollsSteering: true });
    const steering = this.#steering.drain();
    const queued = steering.length > 0 ? steering : this.#followUps.drain();
    if (queued.length === 0) {
      throw new AgentError("nothing_to_continue", "Cannot continue from message role: assistant");
    }
    // The rest of the steering queue waits for the next turn: `steeringMode` decides how many messages go at once.
    await this.#run(queued, { pollsSteering: steering.length === 0 });
  }

  /** Adds a message before the next request. With `interrupt`, the turn in progress is aborted first. */
  steer(message: AgentMessage, { interrupt = false }: { interrupt?: boolean } = {}): void {
    this.#steering.add(checkMessage(message));
    if (!interrupt || !this.#active) return;
    this.#active.isInterrupted = true;
    this.#active.abort.abort(new Error("Interrupted by a steering message."));
  }

  /** Queues a message until the agent would stop. */
  followUp(message: AgentMessage): void {
    this.#followUps.add(checkMessage(message));
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

  /** Ends the run in progress, if there is one. Queued messages stay queued. */
  abort(): void {
    if (!this.#active) return;
    this.#active.isInterrupted = false;
    this.#active.abort.abort();
  }

  /** Resolves when no run is in progress and the listeners of the last event have settled. */
  waitForIdle(): Promise<void> {
    return this.#active?.idle ?? Promise.resolve();
  }

  /** Ends the run in progress and forgets transcript, queues and failure. Model, system prompt and tools stay. */
  reset(): void {
    this.abort();
    if (this.#active) this.#active.isDiscarded = true;
    this.clearAllQueues();
    this.#live.clear();
  }

  setSystemPrompt(systemPrompt: string): void {
    this.state.systemPrompt = systemPrompt;
  }

  setModel(model: Model): void {
    this.state.model = model;
  }

  setThinkingLevel(level: ThinkingLevel): void {
    this.state.thinkingLevel = level;
  }

  setTools(tools: AgentTool[]): void {
    this.state.tools = tools;
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
    this.state.messages = messages;
  }

  appendMessage(message: AgentMessage): void {
    this.state.messages.push(message);
  }

  clearMessages(): void {
    this.state.messages = [];
  }

  #toMessages(input: string | AgentMessage | AgentMessage[], images: readonly ImageContent[]): AgentMessage[] {
    if (typeof input !== "string") return (Array.isArray(input) ? input : [input]).map(checkMessage);
    return [{ role: "user", content: [{ type: "text", text: input }, ...images], timestamp: this.clock.now() }];
  }

  /** Runs, and runs again as long as steering messages interrupt. The agent is busy until the last run has ended. */
  async #run(prompts: AgentMessage[], { pollsSteering }: { pollsSteering: boolean }): Promise<void> {
    let becomeIdle = () => {};
    const idle = new Promise<void>((resolve) => {
      becomeIdle = resolve;
    });
    let messages = prompts;
    let polls = pollsSteering;
    for (;;) {
      const active: ActiveRun = { abort: new AbortController(), idle, isInterrupted: false, isDiscarded: false };
      this.#active = active;
      this.#live.begin();
      try {
        const config = this.#config(polls);
        await runAgentLoop(messages, this.state, config, this.#report, active.abort.signal, this.streamFn);
      } catch (error) {
        await this.#reportFailure(error);
      }
      messages = active.isInterrupted ? this.#steering.drain() : [];
      if (messages.length === 0) break;
      polls = false;
    }
    this.#live.finish();
    this.#active = undefined;
    becomeIdle();
  }

  /** With `pollsSteering` false, the steering queue is not polled before the first turn. */
  #config(pollsSteering: boolean): AgentLoopConfig {
    let skipsPoll = !pollsSteering;
    const { model, thinkingLevel } = this.state;
    return {
      ...toLoopConfig(this),
      model,
      ...(thinkingLevel !== "off" && { reasoning: thinkingLevel }),
      prepareNextTurn: this.#createTurnUpdater(),
      getSteeringMessages: () => {
        if (!skipsPoll) return this.#steering.drain();
        skipsPoll = false;
        return [];
      },
      getFollowUpMessages: () => this.#followUps.drain(),
    };
  }

  /** Applies what was set on the agent since the last turn to the next one; the application's hook takes precedence. */
  #createTurnUpdater(): NonNullable<AgentLoopConfig["prepareNextTurn"]> {
    const { state } = this;
    const applied = {
      model: state.model,
      thinkingLevel: state.thinkingLevel,
      systemPrompt: state.systemPrompt,
      tools: [...state.tools],
    };
    return async (turn) => {
      const { model, thinkingLevel, systemPrompt, tools } = state;
      const update: AgentLoopTurnUpdate = {};
      if (model !== applied.model) update.model = applied.model = model;
      if (thinkingLevel !== applied.thinkingLevel) update.thinkingLevel = applied.thinkingLevel = thinkingLevel;
      if (systemPrompt !== applied.systemPrompt || !isSameList(tools, applied.tools)) {
        Object.assign(applied, { systemPrompt, tools: [...tools] });
        update.context = { ...turn.context, systemPrompt, tools };
      }
      return { ...update, ...(await this.prepareNextTurn?.(turn)) };
    };
  }

  /** Applies an event to the state, then notifies the listeners. */
  readonly #report = (event: AgentEvent): void | Promise<void> => {
    const active = this.#active;
    if (!active) return undefined;
    if (!active.isDiscarded) this.#live.apply(event);
    return notify(this.#listeners, event, active.abort.signal);
  };

  /** The loop does not reject; if a defect made it reject, the run would still end as every run ends. */
  async #reportFailure(error: unknown): Promise<void> {
    const errorMessage = getErrorMessage(error);
    const answer = createAssistantMessage(this.state.model, this.clock.now());
    const message = withFailure(answer, { kind: "unknown", message: errorMessage });
    this.state.messages.push(message);
    this.#live.apply({ type: "turn_end", message, toolResults: [] });
    try {
      await this.#report({ type: "agent_end", messages: [message] });
    } catch (listenerError) {
      // No event is left that could report the failure of the listener, so it is added to the first failure.
      const both = `${errorMessage} (and a listener failed: ${getErrorMessage(listenerError)})`;
      this.#live.apply({ type: "turn_end", message: { ...message, errorMessage: both }, toolResults: [] });
    }
  }
}

/** In the transcript, what is no message would fail every later run. */
function checkMessage(message: AgentMessage): AgentMessage {
  if (isRecord(message) && typeof message.role === "string") return message;
  const example = '{ role: "user", content: "Hello", timestamp: Date.now() }';
  throw new AgentError("invalid_message", `A message is an object such as ${example}, not ${typeof message}.`);
}

/**
 * Calls all listeners, each when the one before it has settled, and then fails with the first failure. Returns a promise
 * only if a listener did or failed: deltas are delivered without one.
 */
function notify(listeners: readonly AgentListener[], event: AgentEvent, signal: AbortSignal): void | Promise<void> {
  for (const [index, listener] of listeners.entries()) {
    let result: void | Promise<void>;
    try {
      result = listener(event, signal);
    } catch (error) {
      result = Promise.reject(error);
    }
    if (isThenable(result)) return notifyRest(result, listeners.slice(index + 1), event, signal);
  }
}

async function notifyRest(
  first: PromiseLike<unknown>,
  rest: readonly AgentListener[],
  event: AgentEvent,
  signal: AbortSignal,
): Promise<void> {
  const [outcome] = await Promise.allSettled([first]);
  await notify(rest, event, signal);
  if (outcome.status === "rejected") throw outcome.reason;
}
