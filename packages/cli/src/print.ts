/** Print mode: the answer alone goes to standard output, everything else to standard error. */
import { isSilent, type RunOutcome } from "@tau/harness";
import type { SessionOptions } from "./args.ts";
import type { Io } from "./command.ts";
import type { ExitCode } from "./exit-codes.ts";
import { showProgress } from "./progress.ts";
import { sayAndEnd } from "./say.ts";

export const runPrint = (options: SessionOptions, io: Io): Promise<ExitCode> =>
  sayAndEnd(options, io, (hosted) => {
    const progress = showProgress(hosted, options, io);
    return {
      end(outcome, ending) {
        progress.end();
        const text = getAnswer(outcome);
        if (text !== "") io.out(text.endsWith("\n") ? text : `${text}\n`);
        if (ending !== undefined) io.err(`tau: ${ending}\n`);
      },
    };
  });

/** Text before a call, or before a failure, is not an answer. */
function getAnswer({ terminationReason, answer }: RunOutcome): string {
  if (terminationReason !== "no_tool_calls" || !answer || isSilent(answer)) return "";
  if (answer.content.some(({ type }) => type === "toolCall")) return "";
  return answer.content.map((block) => (block.type === "text" ? block.text : "")).join("");
}
