/** Formats the end of a prompt for print and JSON mode. Pure. */
import type { Failure } from "@tau/ai";
import type { OutputCheck } from "@tau/ai/internal";
import {
  type Approval,
  type BudgetLimitName,
  defaultRunMs,
  formatLimit,
  formatLimitName,
  type PromptEnd,
} from "@tau/protocol";
import { getFailureAdvice } from "@tau/protocol/surface";
import { logAdvice } from "../process/errors.ts";
import { type ExitCode, exitCodes } from "../process/exit-codes.ts";

export interface PromptResult extends PromptEnd {
  /** The value in the answer, or what is wrong with it, if a form was asked for. */
  output?: OutputCheck;
}

/** Adds that there is no value to a run that ended by itself without one, for example because an extension dealt with the prompt. */
export function withForm(result: PromptResult, hasForm: boolean): PromptResult {
  const isOver = result.end.kind === "done" || result.end.kind === "stopped";
  if (!hasForm || result.output || !isOver) return result;
  return { ...result, output: { kind: "unfit", problem: "There is no answer." } };
}

/** The text that is printed or written to a file: that of the value if a form was asked for. Undefined if there is none. */
export function getAnswerText({ answer, output }: PromptResult): string | undefined {
  if (output) return output.kind === "fits" ? JSON.stringify(output.value) : undefined;
  return answer === "" ? undefined : answer;
}

/** `denied` is the number of denied tool calls. A run that a limit ended has failed. */
export function toExitCode({ end, output }: Pick<PromptResult, "end" | "output">, denied: number): ExitCode {
  switch (end.kind) {
    case "done":
    case "stopped":
      if (output?.kind === "unfit") return exitCodes.failed;
      return denied > 0 ? exitCodes.denied : exitCodes.done;
    case "asked":
      return exitCodes.denied;
    case "aborted":
      return exitCodes.interrupted;
    case "disconnected":
    case "length":
    case "budget":
    case "timeout":
    case "idle":
    case "failed":
      return exitCodes.failed;
    default:
      return end satisfies never;
  }
}

/** Why the run ended; undefined if it is done and has an answer. `denied` has the advice about each denied call. */
export function formatEnd(result: PromptResult, denied: readonly string[]): string | undefined {
  const { answer, end, silent, output } = result;
  switch (end.kind) {
    case "done":
    case "stopped":
      if (output?.kind === "unfit") return formatUnfit(output.problem, denied);
      if (denied.length > 0) return formatDenied(denied);
      return end.kind === "done" && !silent && answer.trim() === "" ? "the answer is empty." : undefined;
    case "length":
      return "the answer reached its length limit.";
    case "budget":
      return formatBudgetEnd(end.limit);
    case "timeout":
      return `the run was stopped after ${formatLimit(end.limitMs ?? defaultRunMs)}.`;
    case "asked":
      return formatAsked(end.questions);
    case "aborted":
      return "interrupted.";
    case "disconnected":
      return "the gateway ended before the run was over.";
    case "idle":
    case "failed":
      if (end.kind === "failed" && end.cause === "log") return `${end.failure.message} ${logAdvice}`;
      return withAdvice(end.failure);
    default:
      return end satisfies never;
  }
}

function formatBudgetEnd(limit: BudgetLimitName): string {
  const reason = `the run reached its limit of ${formatLimitName(limit)}.`;
  if (limit !== "day" && limit !== "month") return reason;
  return `${reason}\n  It is the limit of all sessions. Raise budgets.${limit}.cost in your settings, or use a model without cost.`;
}

function withAdvice({ kind, message }: Failure): string {
  const advice = getFailureAdvice(kind, "program");
  return advice === undefined ? message : `${message}\n  ${advice}`;
}

function formatUnfit(problem: string, denied: readonly string[]): string {
  const reason = `the answer does not fit the schema: ${problem}`;
  return denied.length === 0 ? reason : `${reason}\n  ${formatDenied(denied)}`;
}

function formatAsked(questions: readonly Approval[]): string {
  const lines = questions.map(({ id, summary, reason }) => `\n  ${id}: ${summary} ${reason}`);
  return `the run waits for ${questions.length === 1 ? "an answer" : "answers"}:${lines.join("")}`;
}

const maxAdvice = 5;

function formatDenied(denied: readonly string[]): string {
  const advice = [...new Set(denied)];
  const more = advice.length > maxAdvice ? `\n  and ${advice.length - maxAdvice} more` : "";
  const lines = advice.slice(0, maxAdvice).map((line) => `\n  ${line}`);
  return `${denied.length === 1 ? "a tool call was" : `${denied.length} tool calls were`} denied:${lines.join("")}${more}`;
}
