/** What a run remembers between two attempts in order to decide the next step. Pure. */
import type { AssistantMessage } from "@tau/ai";
import { isFailed } from "../agent-session/transcript.ts";

export interface Recovery {
  /** Failures since the last answer that succeeded. */
  readonly failures: number;
  /** Compacted because of an overflow since the last answer that succeeded. */
  readonly wasCompacted: boolean;
  /** Answers in a row that were cut off in the middle of their calls. */
  readonly cutAnswers: number;
  /** A compaction for the threshold is tried again when the context has this many tokens. */
  readonly compactAgainAt: number;
}

export const noRecovery: Recovery = { failures: 0, wasCompacted: false, cutAnswers: 0, compactAgainAt: 0 };

/** How often in a row an answer may be cut off in the middle of its calls. The engine counts within its own runs only. */
export const maxCutAnswers = 3;

/** After one answer; `hasResults` says whether it called tools. */
export function afterAnswer(recovery: Recovery, answer: AssistantMessage, hasResults: boolean): Recovery {
  const cutAnswers = answer.stopReason === "length" && hasResults ? recovery.cutAnswers + 1 : 0;
  return isFailed(answer)
    ? { ...recovery, cutAnswers, failures: recovery.failures + 1 }
    : { ...recovery, cutAnswers, failures: 0, wasCompacted: false };
}

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
