/** Print mode: only the answer goes to standard output, everything else to standard error. */
import type { SessionOptions } from "./args.ts";
import type { Io } from "./command.ts";
import type { ExitCode } from "./exit-codes.ts";
import { showProgress } from "./progress.ts";
import { getAnswer, runPrompts } from "./run-prompts.ts";
import { toShownSession } from "./shown-session.ts";

export const runPrint = (options: SessionOptions, io: Io): Promise<ExitCode> =>
  runPrompts(options, io, (hosted) => {
    const endProgress = showProgress(toShownSession(hosted), options, io);
    return (outcome, reason) => {
      endProgress();
      const answer = getAnswer(outcome);
      if (answer !== "") io.out(answer.endsWith("\n") ? answer : `${answer}\n`);
      if (reason !== undefined) io.err(`tau: ${reason}\n`);
    };
  });
