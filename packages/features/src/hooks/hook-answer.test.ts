import { expect, test } from "vitest";
import { combineAnswers, type HookAnswer, type HookEnd, parseAnswer } from "./hook-answer.ts";
import { type HookEventName, hookEventNames } from "./events.ts";

const exited = (code: number, stdout = "", stderr = ""): HookEnd => ({ kind: "exited", code, stdout, stderr });
const json = (value: unknown): HookEnd => exited(0, JSON.stringify(value));
const pre = (fields: object): HookEnd => json({ hookSpecificOutput: { hookEventName: "PreToolUse", ...fields } });

test.each<[event: HookEventName, end: HookEnd, answer: Partial<HookAnswer>]>([
  ["PreToolUse", exited(0), { verdict: "none" }],
  ["PreToolUse", exited(0, "fine"), { verdict: "none" }],
  ["PreToolUse", exited(2, '{"permissionDecision":"allow"}', "no\n"), { verdict: "deny", reason: "no" }],
  ["PreToolUse", exited(2), { verdict: "deny", reason: "The hook gave no reason." }],
  ["PreToolUse", pre({ permissionDecision: "allow" }), { verdict: "none" }],
  ["PreToolUse", pre({ permissionDecision: "ask" }), { verdict: "ask", reason: "The hook gave no reason." }],
  [
    "PreToolUse",
    pre({ permissionDecision: "defer", permissionDecisionReason: "later" }),
    { verdict: "ask", reason: "later" },
  ],
  [
    "PreToolUse",
    pre({ permissionDecision: "deny", permissionDecisionReason: "no" }),
    { verdict: "deny", reason: "no" },
  ],
  ["PreToolUse", pre({ permissionDecision: "allow", updatedInput: { command: "ls" } }), { verdict: "deny" }],
  ["PreToolUse", json({ decision: "block", reason: "old form" }), { verdict: "deny", reason: "old form" }],
  ["PreToolUse", json({ decision: "approve" }), { verdict: "none" }],
  [
    "PreToolUse",
    json({ continue: false, stopReason: "enough", decision: "approve" }),
    { verdict: "stop", reason: "enough" },
  ],
  ["PreToolUse", json({ systemMessage: "careful" }), { verdict: "none", message: "careful" }],
  ["PostToolUse", pre({ additionalContext: "of another event" }), { verdict: "none" }],
  ["PostToolUse", exited(0, "text"), { verdict: "none" }],
  ["PostToolUse", exited(2, "", "fix it"), { verdict: "deny", reason: "fix it" }],
  ["PostToolUseFailure", exited(2, "", "try x"), { verdict: "none", context: "try x" }],
  ["UserPromptSubmit", exited(0, "more\n"), { verdict: "none", context: "more" }],
  ["SessionStart", exited(0, "main"), { verdict: "none", context: "main" }],
  ["SessionStart", exited(2, "", "oops"), { verdict: "none", message: "oops" }],
  ["SessionEnd", json({ decision: "block", reason: "stay" }), { verdict: "none" }],
  ["Stop", json({ decision: "block", reason: "test first" }), { verdict: "deny", reason: "test first" }],
])("%s: %j is %j", (event, end, answer) => {
  expect(parseAnswer(event, end, "continue")).toEqual(
    answer.reason === undefined && answer.verdict === "deny" ? expect.objectContaining(answer) : answer,
  );
});

test.each<[HookEnd]>([[exited(1)], [exited(127)], [exited(0, "{")], [{ kind: "failed", reason: "took too long." }]])(
  "%j blocks only where something can be blocked, and only if the hook has to agree",
  (end) => {
    for (const event of hookEventNames) {
      expect(parseAnswer(event, end, "continue")).toMatchObject({ verdict: "none", failure: expect.any(String) });
      const blocks = !["SessionStart", "SessionEnd", "Notification", "PostToolUseFailure"].includes(event);
      expect(parseAnswer(event, end, "block").verdict).toBe(blocks ? "deny" : "none");
    }
  },
);

test("no answer of any hook takes back the denial of another", () => {
  const answers: HookAnswer[] = [
    { verdict: "none", context: "a" },
    { verdict: "deny", reason: "one" },
    { verdict: "ask", reason: "sure?" },
    { verdict: "deny", reason: "two", context: "b" },
  ];
  expect(combineAnswers(answers)).toEqual({ verdict: "deny", reason: "one\n\ntwo", context: "a\n\nb" });
  expect(combineAnswers([])).toEqual({ verdict: "none" });
});
