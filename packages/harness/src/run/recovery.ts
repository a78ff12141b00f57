/** Remembers between two attempts of a run what decides the next step. Pure. */
import type { AssistantMessage, Failure } from "@tau/ai";
import { getFailure } from "@tau/ai/internal";
import { isFailed } from "./transcript.ts";

export interface Recovery {
  /** Failures of the current model and key since the last answer that succeeded. */
  readonly failures: number;
  /** How many of them were refusals of a busy provider. */
  readonly busyFailures: number;
  /** When the first of them happened, by the monotonic clock; undefined without failures. */
  readonly failingSinceMs: number | undefined;
  /** How often another key or model was used since the last answer that succeeded. */
  readonly changes: number;
  /** Compacted because of an overflow since the last answer that succeeded. */
  readonly wasCompacted: boolean;
  /** Answers in a row that were cut off in the middle of their calls. */
  readonly cutAnswers: number;
  /** A compaction for the threshold is tried again when the context has this many tokens. */
  readonly compactAgainAt: number;
}

export const noRecovery: Recovery = {
  failures: 0,
  busyFailures: 0,
  failingSinceMs: undefined,
  changes: 0,
  wasCompacted: false,
  cutAnswers: 0,
  compactAgainAt: 0,
};

/** Whether the provider refuses the request only because it has too much to do. */
export const isBusy = ({ kind }: Failure): boolean => kind === "overloaded" || kind === "rate_limited";

/** How often in a row an answer may be cut off in the middle of its calls. The engine counts within its own runs only. */
export const maxCutAnswers = 3;

/** After one answer; `hasResults` says whether it called tools, `nowMs` is the time of the monotonic clock. */
export function afterAnswer(
  recovery: Recovery,
  answer: AssistantMessage,
  { hasResults, nowMs }: { hasResults: boolean; nowMs: number },
): Recovery {
  const cutAnswers = answer.stopReason === "length" && hasResults ? recovery.cutAnswers + 1 : 0;
  const { compactAgainAt } = recovery;
  if (!isFailed(answer)) return { ...noRecovery, cutAnswers, compactAgainAt };
  return {
    ...recovery,
    cutAnswers,
    failures: recovery.failures + 1,
    busyFailures: recovery.busyFailures + (isBusy(getFailure(answer)) ? 1 : 0),
    failingSinceMs: recovery.failingSinceMs ?? nowMs,
  };
}

/** After another key or model was taken: its failures are counted from the beginning. */
export const afterChange = (recovery: Recovery): Recovery => ({
  ...recovery,
  failures: 0,
  busyFailures: 0,
  failingSinceMs: undefined,
  changes: recovery.changes + 1,
});

/** After a compaction; `retryAt` is given when it did not help enough. */
export const afterCompaction = (
  recovery: Recovery,
  reason: "threshold" | "overflow",
  retryAt: number | undefined,
): Recovery => ({
  ...recovery,
  wasCompacted: recovery.wasCompacted || reason === "overflow",
  compactAgainAt: retryAt ?? recovery.compactAgainAt,
});
