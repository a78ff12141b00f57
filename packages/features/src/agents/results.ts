/** Turns the ends of tasks into results, and chooses those that are returned. Pure. */
import { assertNever } from "@tau/ai/internal";
import { getMessage, toText } from "../kit/thrown-values.ts";
import type { FanoutOptions, FanoutResult } from "./contract.ts";

/** How a task ended. */
export type TaskOutcome =
  | { readonly kind: "answered"; readonly value: unknown; readonly durationMs: number; readonly tokensUsed?: number }
  /** The answer does not fit the schema. */
  | { readonly kind: "unfit"; readonly error: unknown; readonly durationMs: number; readonly tokensUsed?: number }
  | { readonly kind: "threw"; readonly error: unknown }
  | { readonly kind: "timeout"; readonly timeoutMs: number }
  | { readonly kind: "aborted"; readonly reason: unknown };

export function toResult(taskId: string, outcome: TaskOutcome): FanoutResult {
  switch (outcome.kind) {
    case "answered":
      return { taskId, success: true, result: outcome.value, ...getFigures(outcome) };
    case "unfit":
      return {
        taskId,
        success: false,
        error: `Schema validation failed: ${getMessage(outcome.error)}`,
        ...getFigures(outcome),
      };
    case "threw":
      return { taskId, success: false, error: getMessage(outcome.error), duration: 0 };
    case "timeout":
      return { taskId, success: false, error: formatTimeout(outcome), duration: outcome.timeoutMs };
    case "aborted":
      return { taskId, success: false, error: "The task was aborted.", duration: 0 };
    default:
      return assertNever(outcome);
  }
}

const getFigures = ({ durationMs, tokensUsed }: { durationMs: number; tokensUsed?: number }) => ({
  duration: durationMs,
  ...(tokensUsed !== undefined && { tokensUsed }),
});

/** The error of a fan-out that ended because of this task; undefined if the task is no reason to end it. */
export function getStopError(index: number, outcome: TaskOutcome): Error | undefined {
  switch (outcome.kind) {
    case "answered":
    case "unfit":
      return undefined;
    case "threw":
      return new Error(`Task ${index} failed: ${toText(outcome.error)}`, { cause: outcome.error });
    case "timeout":
      return new Error(`Task ${index} failed: Error: ${formatTimeout(outcome)}`);
    case "aborted":
      return new Error(`Task ${index} failed: ${toText(outcome.reason)}`, { cause: outcome.reason });
    default:
      return assertNever(outcome);
  }
}

const formatTimeout = ({ timeoutMs }: { timeoutMs: number }): string => `The task timed out after ${timeoutMs} ms.`;

/** Chooses the results that are returned, in the order of the tasks. */
export function mergeResults<T>(
  results: readonly FanoutResult<T>[],
  merge: NonNullable<FanoutOptions["merge"]>,
): FanoutResult<T>[] {
  switch (merge) {
    case "all":
      return [...results];
    case "successful":
      return results.filter(({ success }) => success);
    case "first":
      return [results.find(({ success }) => success) ?? results[0]].filter((result) => result !== undefined);
    default:
      return assertNever(merge);
  }
}
