/** Reads from the log of a run's session how the run ended. Pure. */
import { type BudgetLimitName, formatLimitName, type SessionEntry } from "@tau/protocol";
import { getReplyText, isUnfinished } from "../channels/session-replies.ts";
import { cutText } from "./run-text.ts";

/** How a run that was followed has ended; see `Termination`. */
export interface SeenEnd {
  readonly reason: string;
  readonly detail?: string | undefined;
  /** The error of the model's provider, if it failed. */
  readonly failure?: string | undefined;
}

export type RunOutcome =
  | { readonly state: "done"; readonly answer: string }
  | {
      readonly state: "failed" | "cut";
      readonly reason: string;
      /** Whether people in a chat may read the reason: it names no keys, servers or directories. */
      readonly isForPeople?: boolean;
    };

/** Whether the message of the run is in the log: from then on it must not be sent again. */
export const isSaid = (branch: readonly SessionEntry[]): boolean => branch.some(({ type }) => type === "message");

/** `end` is undefined for a run that nobody has followed to its end: then the log alone decides. */
export function readOutcome(branch: readonly SessionEntry[], end: SeenEnd | undefined): RunOutcome {
  const entry = branch.findLast((each) => each.type === "message" && each.message.role === "assistant");
  const message = entry?.type === "message" && entry.message.role === "assistant" ? entry.message : undefined;
  if (end && (end.reason !== "no_tool_calls" || end.detail?.startsWith("budget"))) {
    return { state: "failed", reason: describeEnd(end), isForPeople: end.reason !== "error" };
  }
  if (message?.stopReason === "error") return { state: "failed", reason: message.errorMessage ?? "The model failed." };
  if (!end && (!message || isUnfinished(branch))) {
    return { state: "cut", reason: cutText, isForPeople: true };
  }
  return { state: "done", answer: entry ? getReplyText(entry) : "" };
}

function describeEnd({ reason, detail, failure }: SeenEnd): string {
  if (reason === "error") return failure || detail || "The model failed.";
  if (reason === "abort_signal") return `It was ended: ${detail ?? "aborted"}`;
  if (detail?.startsWith("budget"))
    return `It had used its budget of ${formatLimitName(detail.slice("budget_".length) as BudgetLimitName)}.`;
  return `It took too long (${detail ?? reason}).`;
}
