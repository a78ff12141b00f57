/** Print mode: only the answer goes to standard output, everything else to standard error. */
import { isSilent, type RunOutcome } from "@tau/harness";
import type { SessionOptions } from "./args.ts";
import type { Io } from "./command.ts";
import type { ExitCode } from "./exit-codes.ts";
import { showProgress } from "./progress.ts";
import { runPrompts } from "./run-prompts.ts";

export const runPrint = (options: SessionOptions, io: Io): Promise<ExitCode> =>
  runPrompts(options, io, (hosted) => {
    const endProgress = showProgress(hosted, options, io);
    return (outcome, reason) => {
      endProgress();
      const answer = getAnswer(outcome);
      if (answer !== "") io.out(answer.endsWith("\n") ? answer : `${answer}\n`);
      if (reason !== undefined) io.err(`tau: ${reason}\n`);
    };
  });

/** Empty if the run was interrupted or failed: text before a tool call is not an answer. */
function getAnswer({ end, answer }: RunOutcome): string {
  const isOver = end.kind === "done" || end.kind === "stopped" || end.kind === "length" || end.kind === "budget";
  if (!isOver || !answer || isSilent(answer)) return "";
  if (answer.content.some(({ type }) => type === "toolCall")) return "";
  return answer.content.map((block) => (block.type === "text" ? block.text : "")).join("");
}
