import { type AssistantMessage, emptyUsage, type FailureKind, type StopReason } from "@tau/ai";
import { describe, expect, test } from "vitest";
import { afterAnswer, afterCompaction, noRecovery, type Recovery } from "./recovery.ts";

const answer = (stopReason: StopReason): AssistantMessage => ({
  role: "assistant",
  content: [],
  api: "test",
  provider: "test",
  model: "m",
  usage: emptyUsage(),
  stopReason,
  timestamp: 1,
});

const troubled: Recovery = {
  failures: 2,
  busyFailures: 1,
  failingSinceMs: 300,
  changes: 1,
  wasCompacted: true,
  cutAnswers: 2,
  compactAgainAt: 500,
};
const failedOnce: Recovery = { ...noRecovery, failures: 1, failingSinceMs: 900 };

describe("after an answer", () => {
  test.each<[law: string, before: Recovery, stopReason: StopReason, hasResults: boolean, after: Recovery]>([
    ["nothing changes while all is well", noRecovery, "stop", false, noRecovery],
    ["a success forgets failures and overflows", troubled, "stop", false, { ...noRecovery, compactAgainAt: 500 }],
    ["a call is a success too", troubled, "toolUse", true, { ...noRecovery, compactAgainAt: 500 }],
    ["a cut answer is a success too", troubled, "length", false, { ...noRecovery, compactAgainAt: 500 }],
    ["a failure is counted", noRecovery, "error", false, failedOnce],
    ["an abort is counted as a failure", noRecovery, "aborted", false, failedOnce],
    ["a failure does not forget an overflow", troubled, "error", false, { ...troubled, failures: 3, cutAnswers: 0 }],
    [
      "an answer cut in the middle of its calls is counted",
      noRecovery,
      "length",
      true,
      { ...noRecovery, cutAnswers: 1 },
    ],
    ["cut answers in a row add up", troubled, "length", true, { ...noRecovery, cutAnswers: 3, compactAgainAt: 500 }],
    ["a cut text without calls ends the row", troubled, "length", false, { ...noRecovery, compactAgainAt: 500 }],
  ])("%s", (_law, before, stopReason, hasResults, after) => {
    expect(afterAnswer(before, answer(stopReason), { hasResults, nowMs: 900 })).toEqual(after);
  });

  test.each<[FailureKind, busyFailures: number]>([
    ["overloaded", 1],
    ["rate_limited", 1],
    ["network", 0],
    ["idle_timeout", 0],
    ["unknown", 0],
  ])("a failure %s adds %i to the refusals of a busy provider", (kind, busyFailures) => {
    const failed = { ...answer("error"), failure: { kind, message: "No." } };
    const after = afterAnswer(noRecovery, failed, { hasResults: false, nowMs: 900 });
    expect(after).toEqual({ ...failedOnce, busyFailures });
  });
});

describe("after a compaction", () => {
  test.each<[string, Recovery, "threshold" | "overflow", number | undefined, Recovery]>([
    ["that helped, nothing changes", noRecovery, "threshold", undefined, noRecovery],
    [
      "that did not help, the size at which to try again is kept",
      noRecovery,
      "threshold",
      900,
      { ...noRecovery, compactAgainAt: 900 },
    ],
    ["that helped, an earlier size stays", troubled, "threshold", undefined, troubled],
    [
      "that did not help, a later size replaces an earlier one",
      troubled,
      "threshold",
      900,
      { ...troubled, compactAgainAt: 900 },
    ],
    ["for an overflow, it is remembered", noRecovery, "overflow", undefined, { ...noRecovery, wasCompacted: true }],
    ["for the threshold, an earlier overflow is not forgotten", troubled, "threshold", undefined, troubled],
    [
      "failures and cut answers stay",
      { ...troubled, wasCompacted: false },
      "overflow",
      900,
      { ...troubled, compactAgainAt: 900 },
    ],
  ])("%s", (_law, before, reason, retryAt, after) => {
    expect(afterCompaction(before, reason, retryAt)).toEqual(after);
  });
});
