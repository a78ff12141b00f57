/** Lets aborted calls fail with the same message everywhere. */
import { untilAborted } from "@tau/ai/internal";
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
  const outcome = await untilAborted(work, signal);
  if (outcome.kind === "aborted") throw abortedBy(signal!, words?.());
  return outcome.value;
}
