import { followSignal } from "./follow-signal.ts";

type UntilAborted<T> = { readonly kind: "done"; readonly value: T } | { readonly kind: "aborted" };

/**
 * Waits for work that may not look at its signal: the result is `aborted` as soon as the signal aborts, or at once if it
 * has. Work that has settled by the time of the abort decides; rejects as it does. Work that has not continues, and what
 * becomes of it is ignored. Leaves no listener on the signal.
 */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<UntilAborted<T>> {
  return new Promise((resolve, reject) => {
    const abort = () => resolve({ kind: "aborted" });
    if (signal?.aborted) abort();
    // Later, so that the result of work that has settled comes first.
    const stop = followSignal(signal, () => queueMicrotask(abort));
    void work.then((value) => resolve({ kind: "done", value }), reject).finally(stop);
  });
}
