/** How a run ended, and how that is reported on the wire. Code decides on `RunEnd`; its rendering is for people and logs. */
import type { Failure } from "@tau/ai";
import type { Approval } from "./approval.ts";

/** The reason why a run ended, for surfaces: exactly one of these. */
export type TerminationReason =
  | "no_tool_calls"
  | "timeout_48h"
  | "idle_timeout_120s"
  | "abort_signal"
  | "gateway_disconnected"
  | "error";

/** `day` and `month`: the cost of all sessions in that time. The others are limits of the run, or of its session. */
export type BudgetLimitName = "tokens" | "cost" | "turns" | "time" | "day" | "month";

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
  /** Calls wait for the answers to these questions. They are made when the session is resumed. */
  | { kind: "asked"; questions: readonly Approval[] }
  /** `limitMs`: how long the run was allowed to take. Default 48 hours. */
  | { kind: "timeout"; limitMs?: number }
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

/** How long a run may take if nothing else is set. */
export const defaultRunMs = 48 * 60 * 60 * 1_000;

/** A time limit for people: `48 hours`, `90 minutes`, `30 seconds`. */
export function formatLimit(limitMs: number): string {
  const [unit, unitMs] =
    limitMs % 3_600_000 === 0 ? ["hour", 3_600_000] : limitMs % 60_000 === 0 ? ["minute", 60_000] : ["second", 1_000];
  const count = limitMs / unitMs;
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}

/** A limit for people: `turns`, `cost per day`. */
export const formatLimitName = (limit: BudgetLimitName): string =>
  limit === "day" || limit === "month" ? `cost per ${limit}` : limit;

/** The names of the reasons are fixed; `detail` has the limit that really was exceeded. */
const withLimit = (name: string, limitMs: number | undefined): string =>
  limitMs === undefined ? name : `${name}_${limitMs / 1_000}s`;

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
    case "asked":
      return { terminationReason: "no_tool_calls", detail: "asked" };
    case "timeout":
      return {
        terminationReason: "timeout_48h",
        ...(end.limitMs !== undefined && end.limitMs !== defaultRunMs && { detail: withLimit("timeout", end.limitMs) }),
      };
    case "idle":
      return {
        terminationReason: "idle_timeout_120s",
        detail: withLimit(end.failure.kind, "limitMs" in end.failure ? end.failure.limitMs : undefined),
      };
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
