/** Print mode: the answer alone goes to standard output; everything else a person may want to see to standard error. */
import { isSilent, type RunOutcome } from "@tau/harness";
import type { SessionOptions } from "./args.ts";
import type { Io } from "./command.ts";
import type { ExitCode } from "./exit-codes.ts";
import { showProgress } from "./progress.ts";
import { sayAndEnd } from "./say.ts";

export const runPrint = (options: SessionOptions, io: Io): Promise<ExitCode> =>
  sayAndEnd(options, io, (session) => {
    const progress = showProgress(session, options, io);
    return {
      end(outcome, said) {
        progress.end();
        const text = getAnswer(outcome);
        if (text !== "") io.out(text.endsWith("\n") ? text : `${text}\n`);
        if (said !== undefined) io.err(`tau: ${said}\n`);
      },
    };
  });

/** What was said before a call, or before something failed, is no answer. */
function getAnswer({ terminationReason, answer }: RunOutcome): string {
  if (terminationReason !== "no_tool_calls" || !answer || isSilent(answer)) return "";
  if (answer.content.some(({ type }) => type === "toolCall")) return "";
  return answer.content.map((block) => (block.type === "text" ? block.text : "")).join("");
}
