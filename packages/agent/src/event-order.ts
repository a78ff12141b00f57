import { messageOf } from "@tau/ai";
import type { AgentEvent, AgentEventSink } from "./types.ts";

/**
 * Delivers events one at a time, however many tools report at once. A sink that throws is broken: it still gets the
 * events that close what is open, and whatever else it throws is not looked at.
 */
export class EventOrder {
  readonly #sink: AgentEventSink;
  readonly #onBroken: (reason: string) => void;
  /** Settles when everything that was emitted so far has been taken. */
  #tail: Promise<void> | undefined;

  constructor(sink: AgentEventSink, onBroken: (reason: string) => void) {
    this.#sink = sink;
    this.#onBroken = onBroken;
  }

  /** Returns nothing when the sink has taken the event already, which is what makes a million deltas cheap. */
  emit(event: AgentEvent): Promise<void> | undefined {
    return this.#tail ? this.#follow(this.#tail.then(() => this.#deliver(event))) : this.#deliver(event);
  }

  #deliver(event: AgentEvent): Promise<void> | undefined {
    try {
      const taken = this.#sink(event);
      return taken ? this.#follow(taken.catch((error: unknown) => this.#break(error))) : undefined;
    } catch (error) {
      this.#break(error);
      return undefined;
    }
  }

  #follow(work: Promise<void>): Promise<void> {
    const tail = work.finally(() => {
      if (this.#tail === tail) this.#tail = undefined;
    });
    this.#tail = tail;
    return tail;
  }

  #break(error: unknown): void {
    this.#onBroken(`A listener failed: ${messageOf(error)}`);
  }
}
