import type { Clock } from "@tau/ai";

/** Counts what an extension waits for that is not its own work: dialogs, commands, children and calls of other tools. */
export interface Waits {
  readonly isWaiting: boolean;
  /** How long something has been waited for, all in all. Waits at the same time count once. */
  readonly waitedMs: number;
  during<T>(work: () => Promise<T>): Promise<T>;
  /** Resolves when nothing is waited for. */
  whenOver(): Promise<void>;
}

export function createWaits(clock: Pick<Clock, "monotonic">): Waits {
  const pending = new Set<Promise<unknown>>();
  let endedMs = 0;
  let sinceMs = 0;
  return {
    get isWaiting() {
      return pending.size > 0;
    },
    get waitedMs() {
      return pending.size > 0 ? endedMs + clock.monotonic() - sinceMs : endedMs;
    },
    async during(work) {
      const promise = work();
      if (pending.size === 0) sinceMs = clock.monotonic();
      pending.add(promise);
      try {
        return await promise;
      } finally {
        pending.delete(promise);
        if (pending.size === 0) endedMs += clock.monotonic() - sinceMs;
      }
    },
    async whenOver() {
      while (pending.size > 0) await Promise.allSettled(pending);
    },
  };
}
