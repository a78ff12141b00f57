/** Print mode: only the answer goes to standard output, everything else to standard error. */
import type { SessionOptions } from "../start/session-options.ts";
import type { Io } from "../commands/command.ts";
import { getAnswerText } from "./prompt-end.ts";
import { showProgress } from "./progress.ts";
import type { PromptSession, Shown } from "./send-prompt.ts";

export const showAsText = ({ shown }: PromptSession, options: SessionOptions, io: Io): Shown => ({
  stop: showProgress(shown, options, io),
  showEnd: (result, reason) => {
    const answer = getAnswerText(result);
    if (answer !== undefined) io.out(answer.endsWith("\n") ? answer : `${answer}\n`);
    if (reason !== undefined) io.err(`tau: ${reason}\n`);
  },
});
