import { SerialQueue } from "@tau/ai/internal";

/** Operations of one session, one after the other, in the order in which they were added. */
export class SessionExecutionQueue {
  readonly #queue = new SerialQueue();

  /** Settles as the operation does. An operation that fails does not hold up those after it. */
  enqueue<T>(operation: () => Promise<T>): Promise<T> {
    return this.#queue.add(operation);
  }
}
