import { expect, test } from "vitest";
import type { AssistantMessage } from "./message.ts";
import { isContextOverflow } from "./overflow.ts";
import { emptyUsage } from "./usage.ts";

const answer = (
  usage: Partial<AssistantMessage["usage"]>,
  extra: Partial<AssistantMessage> = {},
): AssistantMessage => ({
  role: "assistant",
  content: [],
  api: "a",
  provider: "p",
  model: "m",
  usage: { ...emptyUsage(), ...usage },
  stopReason: "stop",
  timestamp: 0,
  ...extra,
});

test("an overflow is detected from the failure, the error message or the token counts", () => {
  expect(
    isContextOverflow(answer({}, { stopReason: "error", failure: { kind: "context_overflow", message: "x" } })),
  ).toBe(true);
  expect(isContextOverflow(answer({}, { stopReason: "error", errorMessage: "prompt is too long" }))).toBe(true);
  expect(isContextOverflow(answer({ input: 90, cacheRead: 20 }), 100)).toBe(true);
  expect(isContextOverflow(answer({ input: 100, output: 0 }, { stopReason: "length" }), 100)).toBe(true);
  expect(isContextOverflow(answer({ input: 90 }), 100)).toBe(false);
  expect(isContextOverflow(answer({ input: 110 }))).toBe(false);
  expect(
    isContextOverflow(answer({}, { stopReason: "error", errorMessage: "too many tokens, please wait" }), 100),
  ).toBe(false);
});
