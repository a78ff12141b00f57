/** The order of cells: those of one kernel run one after the other, and none waits for a cell that waits for it. */
import { untilAborted } from "@tau/ai/internal";
import { createDeferred } from "./deferred.ts";

export class CellQueue {
  /** Calls whose cells or functions run in the kernel. */
  readonly #running = new Set<string>();
  /** Calls whose cells wait for their turn. */
  readonly #waiting = new Set<string>();
  #turn: Promise<unknown> = Promise.resolve();

  get running(): ReadonlySet<string> {
    return this.#running;
  }

  get waiting(): ReadonlySet<string> {
    return this.#waiting;
  }

  /** Does the work of a call when the cells before it have ended. Resolves with "aborted" if it was aborted before that. */
  async run<T>(callId: string, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T | "aborted"> {
    const before = this.#turn;
    const { promise, resolve } = createDeferred<void>();
    this.#turn = promise;
    this.#waiting.add(callId);
    try {
      const turn = await untilAborted(before, signal);
      if (turn.kind === "aborted" || signal?.aborted) return "aborted";
      this.#waiting.delete(callId);
      return await this.runBeside(callId, work);
    } finally {
      this.#waiting.delete(callId);
      void before.then(() => resolve());
    }
  }

  /** Does the work of a call beside the cells: that of a function. */
  async runBeside<T>(callId: string, work: () => Promise<T>): Promise<T> {
    this.#running.add(callId);
    try {
      return await work();
    } finally {
      this.#running.delete(callId);
    }
  }
}

type CallsOfKernel = Readonly<Record<"running" | "waiting", ReadonlySet<string>>>;

/**
 * Whether a call would wait for itself: a cell that runs in the kernel has made it, or waits for another kernel where that is so.
 * Ids of calls begin with the id of the call that made them. Pure.
 */
export const waitsForItself = (callId: string, own: CallsOfKernel, all: readonly CallsOfKernel[]): boolean =>
  [...own.running].some(
    (running) =>
      isWithin(callId, running) ||
      all.some(
        (other) =>
          other !== own &&
          [...other.waiting].some((waiting) => isWithin(waiting, running)) &&
          waitsForItself(callId, other, all),
      ),
  );

const isWithin = (callId: string, outer: string): boolean => callId === outer || callId.startsWith(`${outer}/`);
