export type UntilAborted<T> = { readonly kind: "done"; readonly value: T } | { readonly kind: "aborted" };

/**
 * Waits for work that may not look at its signal: the result is `aborted` as soon as the signal aborts, or at once if it
 * has. Rejects as `work` does before that. The work itself goes on, and what becomes of it then is ignored. Leaves no
 * listener on the signal.
 */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<UntilAborted<T>> {
  return new Promise((resolve, reject) => {
    const onAbort = () => resolve({ kind: "aborted" });
    if (signal?.aborted) onAbort();
    else signal?.addEventListener("abort", onAbort, { once: true });
    void work
      .then((value) => resolve({ kind: "done", value }), reject)
      .finally(() => signal?.removeEventListener("abort", onAbort));
  });
}
