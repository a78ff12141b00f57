/** Who is told what happens. A listener that fails disturbs neither the run nor the other listeners. */
import type { AgentEvent } from "@tau/agent";
import type { Message } from "@tau/ai";
import { getErrorMessage } from "@tau/ai/internal";
import type { LifecycleEvent, SessionEvent, SessionFact } from "@tau/protocol";

/** What `AgentSession.subscribe` gives: the engine's own events, and what happens to the session besides. */
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
  readonly #onFailure: (message: string) => void;
  #engine: readonly Listener<AgentSessionEvent>[] = [];
  #lifecycle: readonly Listener<LifecycleEvent>[] = [];
  #all: readonly Listener<SessionEvent>[] = [];

  constructor(onFailure: (message: string) => void) {
    this.#onFailure = onFailure;
  }

  onEngineEvent(listener: Listener<AgentSessionEvent>): () => void {
    this.#engine = [...this.#engine, listener];
    return () => void (this.#engine = this.#engine.filter((other) => other !== listener));
  }

  onLifecycleEvent(listener: Listener<LifecycleEvent>): () => void {
    this.#lifecycle = [...this.#lifecycle, listener];
    return () => void (this.#lifecycle = this.#lifecycle.filter((other) => other !== listener));
  }

  onSessionEvent(listener: Listener<SessionEvent>): () => void {
    this.#all = [...this.#all, listener];
    return () => void (this.#all = this.#all.filter((other) => other !== listener));
  }

  engine(event: AgentEvent): void {
    this.#tell(this.#engine, event);
  }

  /** Part of the life of a run, as the session tells it. Only listeners to that are given `inProcess` too. */
  event(event: SessionEvent, inProcess?: { messages: readonly Message[] }): void {
    this.#tell(this.#all, event);
    if (isLifecycle(event)) this.#tell(this.#lifecycle, inProcess ? { ...event, ...inProcess } : event);
  }

  /** Something that happened to the session: told to those who follow the engine too. */
  fact(event: Exclude<SessionFact, { type: "thinking_delta" | "toolcall_delta" }>): void {
    this.#tell(this.#all, event);
    this.#tell(this.#engine, event);
  }

  #tell<Event>(listeners: readonly Listener<Event>[], event: Event): void {
    for (const listener of listeners) {
      try {
        const given: unknown = listener(event);
        // Nobody waits for a listener, but one that fails later has failed too.
        if (given instanceof Promise) given.catch((error: unknown) => this.#onFailure(getErrorMessage(error)));
      } catch (error) {
        this.#onFailure(getErrorMessage(error));
      }
    }
  }
}
