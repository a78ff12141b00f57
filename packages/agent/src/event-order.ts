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
  /** How many events were emitted and are not handled. */
  #unhandled = 0;

  constructor(sink: AgentEventSink, onSinkFailure: (error: unknown) => void) {
    this.#sink = sink;
    this.#onSinkFailure = onSinkFailure;
  }

  /** Resolves when the sink has handled the event, and all events before it. Never rejects. */
  emit(event: AgentEvent): Promise<void> {
    this.#unhandled++;
    this.#handled = this.#handled.then(() => this.#handle(event));
    return this.#handled;
  }

  /** Whether the sink is handling an event that was emitted with `emit`, or has to. */
  get isBusy(): boolean {
    return this.#unhandled > 0;
  }

  async #handle(event: AgentEvent): Promise<void> {
    await this.emitNow(event);
    this.#unhandled--;
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
