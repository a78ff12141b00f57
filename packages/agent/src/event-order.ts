import type { AgentEvent, AgentEventSink } from "./types.ts";

/**
 * Delivers events one at a time and in order, however many tools report at once. A sink that throws still gets the
 * events that follow, so that every `_start` has its `_end`.
 */
export class EventOrder {
  readonly #sink: AgentEventSink;
  readonly #onSinkFailure: (error: unknown) => void;
  /** Resolves when the sink has handled every event emitted so far. */
  #handled: Promise<void> = Promise.resolve();

  constructor(sink: AgentEventSink, onSinkFailure: (error: unknown) => void) {
    this.#sink = sink;
    this.#onSinkFailure = onSinkFailure;
  }

  /** Resolves when the sink has handled the event, and all events before it. Never rejects. */
  emit(event: AgentEvent): Promise<void> {
    this.#handled = this.#handled.then(() => this.emitNow(event));
    return this.#handled;
  }

  /**
   * Calls the sink at once, and returns a promise only if the sink did. Only for deltas, of which an answer has so many
   * that a promise for each would cost more than the delta. Every earlier event must have been handled.
   */
  emitNow(event: AgentEvent): Promise<void> | undefined {
    try {
      // Code without types may return anything.
      const result: unknown = this.#sink(event);
      return isThenable(result) ? this.#waitForSink(result) : undefined;
    } catch (error) {
      this.#onSinkFailure(error);
      return undefined;
    }
  }

  async #waitForSink(result: PromiseLike<unknown>): Promise<void> {
    try {
      await result;
    } catch (error) {
      this.#onSinkFailure(error);
    }
  }
}

export const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof (value as PromiseLike<unknown> | null | undefined)?.then === "function";
