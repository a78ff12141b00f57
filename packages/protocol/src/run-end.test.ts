import type { Failure } from "@tau/ai";
import { describe, expect, test } from "vitest";
import { type RunEnd, type TerminationReason, toTermination, formatLimit } from "./run-end.ts";

const idle: Failure = { kind: "idle_timeout", message: "Nothing came for 120 seconds." };
const auth: Failure = { kind: "auth", message: "The key is wrong.", status: 401 };
const unknown: Failure = { kind: "unknown", message: "No space left on device." };

/** At least one example of each kind: a kind that is added to `RunEnd` does not compile without one. */
const table: { [Kind in RunEnd["kind"]]: [RunEnd & { kind: Kind }, TerminationReason, string | undefined][] } = {
  done: [[{ kind: "done" }, "no_tool_calls", undefined]],
  length: [[{ kind: "length" }, "no_tool_calls", "length"]],
  budget: [
    [{ kind: "budget", limit: "tokens" }, "no_tool_calls", "budget_tokens"],
    [{ kind: "budget", limit: "cost" }, "no_tool_calls", "budget_cost"],
    [{ kind: "budget", limit: "turns" }, "no_tool_calls", "budget_turns"],
    [{ kind: "budget", limit: "day" }, "no_tool_calls", "budget_day"],
    [{ kind: "budget", limit: "time" }, "no_tool_calls", "budget_time"],
  ],
  stopped: [
    [{ kind: "stopped", by: "terminated" }, "no_tool_calls", "terminated"],
    [{ kind: "stopped", by: "error" }, "no_tool_calls", "error"],
  ],
  timeout: [
    [{ kind: "timeout" }, "timeout_48h", undefined],
    [{ kind: "timeout", limitMs: 172_800_000 }, "timeout_48h", undefined],
    [{ kind: "timeout", limitMs: 90_000 }, "timeout_48h", "timeout_90s"],
  ],
  idle: [
    [{ kind: "idle", failure: idle }, "idle_timeout_120s", "idle_timeout"],
    [{ kind: "idle", failure: { ...idle, limitMs: 300_000 } }, "idle_timeout_120s", "idle_timeout_300s"],
  ],
  aborted: [
    [{ kind: "aborted", by: "person" }, "abort_signal", "person"],
    [{ kind: "aborted", by: "signal" }, "abort_signal", "signal"],
    [{ kind: "aborted", by: "parent" }, "abort_signal", "parent"],
    [{ kind: "aborted", by: "agent" }, "abort_signal", "agent"],
    [{ kind: "aborted", by: "person", reason: "steered" }, "abort_signal", "steered"],
    [{ kind: "aborted", by: "signal", reason: "no_tool_calls" }, "abort_signal", "no_tool_calls"],
  ],
  asked: [[{ kind: "asked", questions: [] }, "no_tool_calls", "asked"]],
  disconnected: [[{ kind: "disconnected" }, "gateway_disconnected", undefined]],
  failed: [
    [{ kind: "failed", cause: "model", failure: auth }, "error", "auth"],
    [{ kind: "failed", cause: "internal", failure: unknown }, "error", "unknown"],
    [{ kind: "failed", cause: "log", failure: unknown }, "error", "write_failed"],
  ],
};

const rows = Object.values(table).flat() as [RunEnd, TerminationReason, string | undefined][];

/** A reason that is added to the union does not compile without a line here. */
const isReason: Record<TerminationReason, true> = {
  no_tool_calls: true,
  timeout_48h: true,
  idle_timeout_120s: true,
  abort_signal: true,
  gateway_disconnected: true,
  error: true,
};
const reasons = Object.keys(isReason).sort();

describe("the end of a run, as surfaces are told", () => {
  test.each(rows)("%j ends with %s, detail %s", (end, terminationReason, detail) => {
    expect(toTermination(end)).toEqual(detail === undefined ? { terminationReason } : { terminationReason, detail });
  });

  test.each(rows.filter(([, , detail]) => detail === undefined))("%j has no detail, not even undefined", (end) => {
    expect(Object.keys(toTermination(end))).toEqual(["terminationReason"]);
  });

  test("is one of six reasons, and each of the six is used", () => {
    expect(reasons).toHaveLength(6);
    expect([...new Set(rows.map(([end]) => toTermination(end).terminationReason))].sort()).toEqual(reasons);
  });
});

test.each([
  [172_800_000, "48 hours"],
  [3_600_000, "1 hour"],
  [5_400_000, "90 minutes"],
  [60_000, "1 minute"],
  [1_500, "1.5 seconds"],
])("a limit of %i ms is told as %s", (limitMs, text) => {
  expect(formatLimit(limitMs)).toBe(text);
});
