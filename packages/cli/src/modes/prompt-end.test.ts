import type { PromptEnd, RunEnd } from "@tau/protocol";
import { expect, test } from "vitest";
import { formatEnd, getAnswerText, type PromptResult, toExitCode, withForm } from "./prompt-end.ts";

const failure = { kind: "unknown", message: "It broke." } as const;
const said: Omit<PromptEnd, "end"> = { answer: "Yes." };
const nothing: Omit<PromptEnd, "end"> = { answer: "" };
const silent: Omit<PromptEnd, "end"> = { answer: "", silent: true };

test.each<[RunEnd, Omit<PromptEnd, "end">, string[], number, string | undefined]>([
  [{ kind: "done" }, said, [], 0, undefined],
  [{ kind: "done" }, nothing, [], 0, "the answer is empty."],
  [{ kind: "done" }, silent, [], 0, undefined],
  [{ kind: "done" }, said, ["Allow it."], 3, "a tool call was denied:\n  Allow it."],
  [{ kind: "stopped", by: "finish" }, nothing, [], 0, undefined],
  [{ kind: "length" }, said, [], 1, "the answer reached its length limit."],
  [{ kind: "budget", limit: "turns" }, nothing, ["Allow it."], 1, "the run reached its limit of turns."],
  [
    { kind: "budget", limit: "day" },
    nothing,
    [],
    1,
    "the run reached its limit of cost per day.\n  It is the limit of all sessions. Raise budgets.day.cost in your settings, or use a model without cost.",
  ],
  [{ kind: "timeout" }, nothing, [], 1, "the run was stopped after 48 hours."],
  [{ kind: "timeout", limitMs: 90_000 }, nothing, [], 1, "the run was stopped after 90 seconds."],
  [{ kind: "aborted", by: "person" }, nothing, [], 130, "interrupted."],
  [{ kind: "disconnected" }, nothing, [], 1, "the gateway ended before the run was over."],
  [{ kind: "failed", failure, cause: "model" }, nothing, [], 1, "It broke."],
  [{ kind: "failed", failure, cause: "log" }, nothing, [], 1, expect.stringMatching(/^It broke\. .*--session-dir/)],
])("a run that ended with %j is told to programs and people", (end, answer, denied, code, reason) => {
  expect(toExitCode({ end }, denied.length)).toBe(code);
  expect(formatEnd({ ...answer, end }, denied)).toEqual(reason);
});

test("advice that is the same is given once, and not all of it if there is much", () => {
  const text = formatEnd({ end: { kind: "done" }, answer: "" }, ["a", "a", "b", "c", "d", "e", "f"]);
  expect(text).toBe("7 tool calls were denied:\n  a\n  b\n  c\n  d\n  e\n  and 1 more");
});

test.each<[string, PromptResult, string[], number, string | undefined, string | undefined]>([
  ["fits", { ...said, end: { kind: "done" }, output: { kind: "fits", value: [1] } }, [], 0, undefined, "[1]"],
  [
    "fits after a denied call",
    { ...said, end: { kind: "done" }, output: { kind: "fits", value: null } },
    ["Allow it."],
    3,
    "a tool call was denied:\n  Allow it.",
    "null",
  ],
  [
    "does not fit",
    { ...said, end: { kind: "done" }, output: { kind: "unfit", problem: "a: must be string" } },
    [],
    1,
    "the answer does not fit the schema: a: must be string",
    undefined,
  ],
  [
    "is not there",
    { ...silent, end: { kind: "done" } },
    ["Allow it."],
    1,
    "the answer does not fit the schema: There is no answer.\n  a tool call was denied:\n  Allow it.",
    undefined,
  ],
  ["is cut", { ...nothing, end: { kind: "length" } }, [], 1, "the answer reached its length limit.", undefined],
])("a value that %s", (_name, result, denied, code, reason, answer) => {
  const end = withForm(result, true);
  expect([toExitCode(end, denied.length), formatEnd(end, denied), getAnswerText(end)]).toEqual([code, reason, answer]);
});
