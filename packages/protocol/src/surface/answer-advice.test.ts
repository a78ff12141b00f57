import { expect, test } from "vitest";
import { getFailureAdvice, isEmptyAnswer } from "./answer-advice.ts";

test.each([
  ["context_overflow", "session", /\/new.*\/model/],
  ["context_overflow", "program", /new session.*--model/],
  ["billing", "session", /\/model/],
  ["billing", "program", /--model/],
] as const)("a failure %s has advice for a %s", (kind, surface, expected) => {
  expect(getFailureAdvice(kind, surface)).toMatch(expected);
});

test.each([["network"], ["constructor"], [undefined]])("a failure %s has no advice", (kind) => {
  expect(getFailureAdvice(kind, "session")).toBeUndefined();
});

const text = (words: string) => ({ type: "text", text: words }) as const;
const thinking = { type: "thinking", thinking: "Hm." } as const;
const call = { type: "toolCall", id: "c", name: "ls", arguments: {} } as const;

test.each([
  ["without content", [], "stop", true],
  ["with blanks", [text(" \n")], "stop", true],
  ["with thoughts alone", [thinking], "stop", true],
  ["with text", [text("Hi")], "stop", false],
  ["with a call", [call], "toolUse", false],
  ["with a call and another reason to stop", [call], "stop", false],
  ["that failed", [], "error", false],
  ["that was stopped", [], "aborted", false],
  ["that was cut", [], "length", false],
] as const)("an answer %s: %j %s is empty: %s", (_what, content, stopReason, expected) => {
  expect(isEmptyAnswer({ content: [...content], stopReason })).toBe(expected);
});
