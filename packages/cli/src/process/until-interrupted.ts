/** Commands that read much, such as a session with a million entries. */
import { untilAborted } from "@tau/ai/internal";
import type { Io } from "../commands/command.ts";
import { type ExitCode, exitCodes } from "./exit-codes.ts";

/**
 * Leaves `work` as soon as a signal ends the program. Only for work that may stop anywhere: it reads, or replaces files
 * whole.
 */
export async function untilInterrupted(work: Promise<ExitCode | void>, { signal }: Io): Promise<ExitCode | void> {
  const outcome = await untilAborted(work, signal);
  if (outcome.kind === "done") return outcome.value;
  // A reader that closes the output early, as `head` does, is not an error.
  return signal.reason === "SIGPIPE" ? exitCodes.done : exitCodes.interrupted;
}
