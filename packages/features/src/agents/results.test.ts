import { expect, test } from "vitest";
import type { FanoutResult } from "./contract.ts";
import { getStopError, mergeResults, type TaskOutcome, toResult } from "./results.ts";

const boom = new Error("boom");
const strange = Object.create(null) as unknown;

const outcomes: [TaskOutcome, Partial<FanoutResult>, string | undefined][] = [
  [
    { kind: "answered", value: 1, durationMs: 5, tokensUsed: 7 },
    { success: true, result: 1, duration: 5, tokensUsed: 7 },
    undefined,
  ],
  [
    { kind: "unfit", error: boom, durationMs: 5 },
    { success: false, error: "Schema validation failed: boom", duration: 5 },
    undefined,
  ],
  [{ kind: "threw", error: boom }, { success: false, error: "boom", duration: 0 }, "Task 3 failed: Error: boom"],
  [{ kind: "threw", error: "text" }, { success: false, error: "Unknown error", duration: 0 }, "Task 3 failed: text"],
  [{ kind: "threw", error: null }, { success: false, error: "Unknown error", duration: 0 }, "Task 3 failed: null"],
  [
    { kind: "threw", error: strange },
    { success: false, error: "Unknown error", duration: 0 },
    "Task 3 failed: Unknown error",
  ],
  [
    { kind: "timeout", timeoutMs: 50 },
    { success: false, error: "The task timed out after 50 ms.", duration: 50 },
    "Task 3 failed: Error: The task timed out after 50 ms.",
  ],
  [
    { kind: "aborted", reason: boom },
    { success: false, error: "The task was aborted.", duration: 0 },
    "Task 3 failed: Error: boom",
  ],
];

test.each(outcomes)("%o", (outcome, result, stops) => {
  expect(toResult("a", outcome)).toEqual({ taskId: "a", ...result });
  expect(getStopError(3, outcome)?.message).toBe(stops);
});

const good = (taskId: string) => ({ taskId, success: true, duration: 1 });
const bad = (taskId: string) => ({ taskId, success: false, error: "no", duration: 0 });

test.each([
  ["all", [bad("a"), good("b"), good("c")], "abc"],
  ["successful", [bad("a"), good("b"), good("c")], "bc"],
  ["first", [bad("a"), good("b"), good("c")], "b"],
  ["first", [bad("a"), bad("b")], "a"],
  ["first", [], ""],
] as const)("%s of %o", (merge, results, expected) => {
  expect(
    mergeResults(results, merge)
      .map(({ taskId }) => taskId)
      .join(""),
  ).toBe(expected);
});
