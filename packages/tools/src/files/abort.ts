/** What aborted calls do: they fail with the same message everywhere. */
import { ToolsError } from "../errors.ts";

/** The error of an aborted call; its cause is the reason of the abort. */
export const abortedBy = (signal: AbortSignal, words = "The call was aborted."): ToolsError =>
  new ToolsError("aborted", words, { cause: signal.reason });

/** Throws when the call was aborted. */
export function refuseAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw abortedBy(signal);
}

/**
 * Settles as `work` does, or rejects as soon as the call is aborted, also while a port does not answer. It does not stop
 * the work. `words` returns the message of the error; it is called when the call is aborted.
 */
export async function unlessAborted<T>(
  work: Promise<T>,
  signal: AbortSignal | undefined,
  words?: () => string | undefined,
): Promise<T> {
  if (!signal) return await work;
  let onAbort = () => {};
  const aborted = new Promise<never>((_resolve, reject) => {
    onAbort = () => reject(abortedBy(signal, words?.()));
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
