import { type AssistantMessage, emptyUsage } from "@tau/ai";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isSilent } from "./silent.ts";

const answer = (...content: unknown[]): AssistantMessage => ({
  role: "assistant",
  content: content as AssistantMessage["content"],
  api: "test",
  provider: "test",
  model: "m",
  usage: emptyUsage(),
  stopReason: "stop",
  timestamp: 1,
});
const text = (text: unknown) => ({ type: "text", text });
const thinking = { type: "thinking", thinking: "Nothing new." };
const call = { type: "toolCall", id: "1", name: "read", arguments: {} };

describe("an answer", () => {
  test.each([
    [true, "one of the two words", answer(text("__SILENT__"))],
    [true, "the other word", answer(text("HEARTBEAT_OK"))],
    [true, "spaces around it", answer(text(" \n__SILENT__\n\n"))],
    [true, "thoughts before it", answer(thinking, text("HEARTBEAT_OK"))],
    [true, "a word in two blocks", answer(text("HEARTBEAT"), text("_OK"))],
    [false, "a call beside it", answer(text("__SILENT__"), call)],
    [false, "more than the word", answer(text("HEARTBEAT_OK. All is well."))],
    [false, "both words", answer(text("__SILENT__"), text("HEARTBEAT_OK"))],
    [false, "the word in small letters", answer(text("__silent__"))],
    [false, "the word in its thoughts alone", answer({ type: "thinking", thinking: "__SILENT__" })],
    [false, "nothing at all", answer()],
    [false, "no text in a text block", answer(text(undefined), null)],
    [false, "no list of blocks", { ...answer(), content: "__SILENT__" as never }],
  ])("is silent: %s, for %s", (silent, _what, message) => {
    expect(isSilent(message)).toBe(silent);
  });

  test("that says anything besides the word is never silent", () => {
    const other = fc.string({ minLength: 1 }).filter((said) => said.trim() !== "");
    fc.assert(
      fc.property(fc.constantFrom("__SILENT__", "HEARTBEAT_OK"), other, fc.boolean(), (word, said, before) => {
        expect(isSilent(answer(...(before ? [text(said), text(word)] : [text(word), text(said)])))).toBe(false);
      }),
    );
  });
});
