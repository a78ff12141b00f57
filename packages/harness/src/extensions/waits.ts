/** Counts what handlers wait for that is not their own work: dialogs and commands. */
export interface Waits {
  readonly isWaiting: boolean;
  /** How many waits have begun so far. */
  readonly count: number;
  during<T>(work: () => Promise<T>): Promise<T>;
  /** Resolves when nothing is waited for. */
  whenOver(): Promise<void>;
}

export function createWaits(): Waits {
  let count = 0;
  const pending = new Set<Promise<unknown>>();
  return {
    get isWaiting() {
      return pending.size > 0;
    },
    get count() {
      return count;
    },
    async during(work) {
      count++;
      const promise = work();
      pending.add(promise);
      try {
        return await promise;
      } finally {
        pending.delete(promise);
      }
    },
    async whenOver() {
      while (pending.size > 0) await Promise.allSettled(pending);
    },
  };
}
