import { isThenable } from "./abort.ts";
import type { AgentEvent, AgentEventSink } from "./types.ts";

/**
 * Delivers events one at a time, however many tools report at once. A sink that throws is broken: it still gets the
 * events that close what is open, and whatever else it throws is not looked at.
 */
export class EventOrder {
  readonly #sink: AgentEventSink;
  readonly #onBroken: (error: unknown) => void;
  /** Settles when everything that was emitted so far has been taken. */
  #tail: Promise<void> | undefined;
  /** The sink is being called: what is emitted from within comes after. */
  #isTelling = false;
  #taken: Promise<void> | undefined;

  constructor(sink: AgentEventSink, onBroken: (error: unknown) => void) {
    this.#sink = sink;
    this.#onBroken = onBroken;
  }

  /** Returns nothing when the sink has taken the event already, which is what makes a million deltas cheap. */
  emit(event: AgentEvent): Promise<void> | undefined {
    const earlier = this.#tail ?? (this.#isTelling ? this.#told() : undefined);
    if (earlier) return this.#follow(earlier.then(() => this.#deliver(event)));
    this.#isTelling = true;
    this.#taken = this.#deliver(event);
    this.#isTelling = false;
    return this.#tail ?? (this.#taken && this.#follow(this.#taken));
  }

  /** Settles when the event that is being told has been taken. */
  #told(): Promise<void> {
    return Promise.resolve().then(() => this.#taken);
  }

  #deliver(event: AgentEvent): Promise<void> | undefined {
    try {
      // Without types, a sink may return anything.
      const taken: unknown = this.#sink(event);
      return isThenable(taken) ? this.#wait(taken) : undefined;
    } catch (error) {
      this.#onBroken(error);
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

  async #wait(taken: PromiseLike<unknown>): Promise<void> {
    try {
      await taken;
    } catch (error) {
      this.#onBroken(error);
    }
  }
}
