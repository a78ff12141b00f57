/** Giving up: a call that was aborted says so in the same words everywhere. */
import { untilAborted } from "@tau/ai/internal";
import { ToolsError } from "../errors.ts";

/** What an aborted call rejects with; its cause is the reason that was given. */
export const abortedBy = (signal: AbortSignal, words = "The call was aborted."): ToolsError =>
  new ToolsError("aborted", words, { cause: signal.reason });

/** Throws when the call was given up. */
export function refuseAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw abortedBy(signal);
}

/**
 * Settles as `work` does, or rejects as soon as the call is given up: also while a port works that does not answer.
 * Whoever does the work has to end it too. `words` are asked for when it is given up.
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
