/** How a run ended, and how that is told on the wire. Code decides on `RunEnd`; its rendering is for people and logs. */
import type { Failure } from "@tau/ai";

/** Why a run ended, as surfaces are told: exactly one of these. */
export type TerminationReason =
  | "no_tool_calls"
  | "timeout_48h"
  | "idle_timeout_120s"
  | "abort_signal"
  | "gateway_disconnected"
  | "error";

export type BudgetLimitName = "tokens" | "cost" | "turns" | "time";

/** `person`: somebody asked for it. `signal`: an AbortSignal. `parent`: the session that started this one. `agent`: the model itself. */
export type AbortedBy = "person" | "signal" | "parent" | "agent";

export type RunEnd =
  /** The model answered without calling a tool. */
  | { kind: "done" }
  /** The answer reached its output limit. */
  | { kind: "length" }
  | { kind: "budget"; limit: BudgetLimitName }
  /** A tool result with `terminate`, or a hook, ended the run. */
  | { kind: "stopped"; by: string }
  | { kind: "timeout" }
  /** The provider sent nothing for too long, also when asked again. */
  | { kind: "idle"; failure: Failure }
  | { kind: "aborted"; by: AbortedBy; reason?: string }
  | { kind: "disconnected" }
  /** `cause` is `log` when the session could not be written. */
  | { kind: "failed"; failure: Failure; cause: "model" | "log" | "internal" };

export interface Termination {
  terminationReason: TerminationReason;
  /** Which of the ways to end the reason stands for. */
  detail?: string;
}

/** The one table from the union to the six reasons. */
export function toTermination(end: RunEnd): Termination {
  switch (end.kind) {
    case "done":
      return { terminationReason: "no_tool_calls" };
    case "length":
      return { terminationReason: "no_tool_calls", detail: "length" };
    case "budget":
      return { terminationReason: "no_tool_calls", detail: `budget_${end.limit}` };
    case "stopped":
      return { terminationReason: "no_tool_calls", detail: end.by };
    case "timeout":
      return { terminationReason: "timeout_48h" };
    case "idle":
      return { terminationReason: "idle_timeout_120s", detail: end.failure.kind };
    case "aborted":
      return { terminationReason: "abort_signal", detail: end.reason ?? end.by };
    case "disconnected":
      return { terminationReason: "gateway_disconnected" };
    case "failed":
      return { terminationReason: "error", detail: end.cause === "log" ? "write_failed" : end.failure.kind };
    default:
      return end satisfies never;
  }
}
