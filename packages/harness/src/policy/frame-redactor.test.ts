import fc from "fast-check";
import { expect, test } from "vitest";
import { countUnfinished, createFrameRedactor } from "./frame-redactor.ts";

const key = "acme-key-0123456789";
const keys = { listForms: () => [key] };

const cut = (text: string, ends: readonly number[]) => {
  const cuts = [...new Set([0, ...ends.map((end) => end % (text.length + 1)), text.length])].sort((a, b) => a - b);
  return cuts.slice(1).map((end, index) => text.slice(cuts[index], end));
};

test("a key is not in the written deltas however it is cut, and everything else is, at its position", () => {
  const text = fc
    .array(fc.oneof(fc.constant(key), fc.constant("acme-key-"), fc.string(), fc.constant("a")))
    .map((parts) => parts.join(""));
  fc.assert(
    fc.property(text, fc.array(fc.nat()), (text, ends) => {
      const redactor = createFrameRedactor(keys);
      let index = 0;
      const deltas = cut(text, ends).map((delta) => {
        index += delta.length;
        return { type: "text_delta", messageId: "1", delta, index: index - delta.length };
      });
      const end = { type: "message_end", messageId: "1" };
      const written = [...deltas, end].flatMap((event) => redactor.redactEvent<object>(event));
      expect(written.at(-1)).toBe(end);
      let result = "";
      for (const event of written.slice(0, -1) as typeof deltas) {
        expect(event.index).toBe(result.length);
        result += event.delta;
      }
      expect(result).toBe(text.replaceAll(key, "[secret]"));
    }),
  );
});

test("a key counts from the moment on in which it is used, also if it comes back at once", () => {
  let forms: string[] = [];
  const redactor = createFrameRedactor({ listForms: () => forms });
  expect(redactor.redactLine("{}")).toBe("{}");
  forms = [key];
  expect(redactor.redactLine(key)).toBe("[secret]");
  const delta = { type: "text_delta", messageId: "1", delta: key, index: 0 };
  expect(JSON.stringify(redactor.redactEvent<object>(delta))).not.toContain(key);
});

test("what is held back of one text goes before the next text of the message", () => {
  const redactor = createFrameRedactor(keys);
  const update = (type: string, contentIndex: number, delta: string) => ({
    type: "message_update",
    assistantMessageEvent: { type, contentIndex, delta },
  });
  const events = [update("thinking_delta", 0, "An ac"), update("text_delta", 1, "me-key-0123456789")];
  expect(events.flatMap((event) => redactor.redactEvent(event))).toEqual([
    update("thinking_delta", 0, "An "),
    update("thinking_delta", 0, "ac"),
    update("text_delta", 1, "me-key-0123456789"),
  ]);
});

test("the output of a tool is held back until the tool writes more or ends, whatever others do", () => {
  const redactor = createFrameRedactor(keys);
  const output = (toolCallId: string, content: string) => ({
    type: "tool_execution_update",
    toolCallId,
    updateType: "stdout",
    content,
  });
  const end = (toolCallId: string) => ({ type: "tool_execution_end", toolCallId });
  const events = [output("1", "acme-key-"), end("2"), output("1", "0123456789 acme"), end("1")];
  expect(events.flatMap((event) => redactor.redactEvent<object>(event))).toEqual([
    end("2"),
    output("1", "[secret] "),
    output("1", "acme"),
    end("1"),
  ]);
});

test("only the longest beginning of a key at the end counts", () => {
  expect(countUnfinished("x aab", ["aabc", "bc"])).toBe(3);
  expect(countUnfinished("x abc", ["abc"])).toBe(0);
  expect(countUnfinished("x aaa", ["aaab"])).toBe(3);
  expect(countUnfinished("", ["abc"])).toBe(0);
});
