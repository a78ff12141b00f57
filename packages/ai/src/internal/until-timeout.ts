import type { Clock } from "../clock.ts";

type UntilTimeout<T> = { readonly kind: "done"; readonly value: T } | { readonly kind: "timeout" };

/**
 * Waits for `work`, but at most `maxMs`. Rejects as `work` does before that. The work itself continues, and what becomes of
 * it then is ignored. Leaves no timer behind.
 */
export function untilTimeout<T>(work: Promise<T>, maxMs: number, clock: Clock): Promise<UntilTimeout<T>> {
  return new Promise((resolve, reject) => {
    const cancelTimer = clock.setTimer(maxMs, () => resolve({ kind: "timeout" }));
    void work.then((value) => resolve({ kind: "done", value }), reject).finally(cancelTimer);
  });
}
