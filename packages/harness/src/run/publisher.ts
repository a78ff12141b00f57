/** Publishes events to listeners. One that fails disturbs neither the run nor the other listeners. */
import type { AgentEvent } from "@tau/agent";
import type { Message } from "@tau/ai";
import { getErrorMessage, Listeners } from "@tau/ai/internal";
import type { LifecycleEvent, SessionEvent, SessionFact } from "@tau/protocol";

/** Events of `AgentSession.subscribe`: the engine's own, and what happens to the session besides. */
export type AgentSessionEvent = AgentEvent | Exclude<SessionFact, { type: "thinking_delta" | "toolcall_delta" }>;

type Listener<Event> = (event: Event) => void;

/** The eleven; everything else is a fact of the session. */
const lifecycle: Readonly<Record<LifecycleEvent["type"], true>> = {
  agent_start: true,
  turn_start: true,
  message_start: true,
  text_delta: true,
  tool_execution_start: true,
  tool_execution_update: true,
  tool_execution_end: true,
  message_end: true,
  turn_end: true,
  agent_end: true,
  error: true,
};

const isLifecycle = (event: SessionEvent): event is LifecycleEvent => Object.hasOwn(lifecycle, event.type);

export class Publisher {
  readonly #engine: Listeners<AgentSessionEvent>;
  readonly #lifecycle: Listeners<LifecycleEvent>;
  readonly #all: Listeners<SessionEvent>;

  /** `onFailure` is called once for each listener: one that fails with one event mostly fails with all. */
  constructor(onFailure: (message: string) => void) {
    const fail = (error: unknown, isFirst: boolean) => {
      if (isFirst) onFailure(getErrorMessage(error));
    };
    this.#engine = new Listeners(fail);
    this.#lifecycle = new Listeners(fail);
    this.#all = new Listeners(fail);
  }

  onEngineEvent(listener: Listener<AgentSessionEvent>): () => void {
    return this.#engine.add(listener);
  }

  onLifecycleEvent(listener: Listener<LifecycleEvent>): () => void {
    return this.#lifecycle.add(listener);
  }

  onSessionEvent(listener: Listener<SessionEvent>): () => void {
    return this.#all.add(listener);
  }

  engine(event: AgentEvent): void {
    this.#engine.emit(event);
  }

  /** Publishes an event of a run. Only listeners to the lifecycle are given `inProcess` too. */
  event(event: SessionEvent, inProcess?: { messages: readonly Message[] }): void {
    this.#all.emit(event);
    if (isLifecycle(event)) this.#lifecycle.emit(inProcess ? { ...event, ...inProcess } : event);
  }

  /** Publishes something that happened to the session, also to those who follow the engine. */
  fact(event: Exclude<SessionFact, { type: "thinking_delta" | "toolcall_delta" }>): void {
    this.#all.emit(event);
    this.#engine.emit(event);
  }
}
