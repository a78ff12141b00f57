/** Formats the end of a prompt for print and JSON mode. Pure. */
import type { Failure } from "@tau/ai";
import { defaultRunMs, formatLimit, type PromptEnd, type RunEnd } from "@tau/protocol";
import { getFailureAdvice } from "@tau/protocol/surface";
import { logAdvice } from "../process/errors.ts";
import { type ExitCode, exitCodes } from "../process/exit-codes.ts";

/** `denied` is the number of denied tool calls. A run that a limit ended has failed. */
export function toExitCode(end: RunEnd, denied: number): ExitCode {
  switch (end.kind) {
    case "done":
    case "stopped":
      return denied > 0 ? exitCodes.denied : exitCodes.done;
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
export function formatEnd({ answer, end, silent }: PromptEnd, denied: readonly string[]): string | undefined {
  switch (end.kind) {
    case "done":
    case "stopped":
      if (denied.length > 0) return formatDenied(denied);
      return end.kind === "done" && !silent && answer.trim() === "" ? "the answer is empty." : undefined;
    case "length":
      return "the answer reached its length limit.";
    case "budget":
      return `the run reached its limit of ${end.limit}.`;
    case "timeout":
      return `the run was stopped after ${formatLimit(end.limitMs ?? defaultRunMs)}.`;
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

function withAdvice({ kind, message }: Failure): string {
  const advice = getFailureAdvice(kind, "program");
  return advice === undefined ? message : `${message}\n  ${advice}`;
}

const maxAdvice = 5;

function formatDenied(denied: readonly string[]): string {
  const advice = [...new Set(denied)];
  const more = advice.length > maxAdvice ? `\n  and ${advice.length - maxAdvice} more` : "";
  const lines = advice.slice(0, maxAdvice).map((line) => `\n  ${line}`);
  return `${denied.length === 1 ? "a tool call was" : `${denied.length} tool calls were`} denied:${lines.join("")}${more}`;
}
