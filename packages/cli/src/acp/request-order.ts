import { SerialQueue } from "@tau/ai/internal";

/** Keeps the requests about each session in order. Knows only sessions that have requests now. */
export class RequestOrder {
  readonly #queues = new Map<string, SerialQueue>();

  /** How many sessions have requests that are not long. */
  get size(): number {
    return this.#queues.size;
  }

  /** A long request waits for those before it, and nothing waits for it. Requests about no session wait for nothing. */
  async run<T>(sessionId: string, isLong: boolean, work: () => Promise<T>): Promise<T> {
    if (sessionId === "") return await work();
    const open = this.#queues.get(sessionId);
    if (isLong) {
      await open?.whenIdle();
      return await work();
    }
    const queue = open ?? new SerialQueue();
    this.#queues.set(sessionId, queue);
    return await queue.add(work).finally(() => queue.isIdle && this.#queues.delete(sessionId));
  }
}
