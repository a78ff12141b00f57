import fc from "fast-check";
import { expect, test } from "vitest";
import { getSecretForms } from "@tau/policy/internal";
import { countUnfinished, createFrameRedactor } from "./frame-redactor.ts";
import { removeSecrets } from "@tau/policy/internal";

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

const hex = (text: string) => Buffer.from(text).toString("hex");
const percent = (text: string) => hex(text).replaceAll(/../g, "%$&");
const own = "sk-Own.Key_0123/456 789";

test.each([
  ["hexadecimal", hex(own)],
  ["hexadecimal in capitals", hex(own).toUpperCase()],
  ["percent-encoded as a whole", percent(own)],
  ["percent-encoded as a whole, in capitals", percent(own).toUpperCase()],
  ["percent-encoded but for letters and digits", "sk%2DOwn%2EKey%5F0123%2F456%20789"],
  ["percent-encoded but for letters and digits, in small letters", "sk%2dOwn%2eKey%5f0123%2f456%20789"],
  ["percent-encoded in an address", encodeURIComponent(own)],
  ["percent-encoded in a path", "sk-Own.Key_0123/456%20789"],
])("a key is not in the written deltas in other encodings, however it is cut: %s", (_, encoded) => {
  const forms = getSecretForms(own);
  for (let end = 1; end <= encoded.length; end += 5) {
    const redactor = createFrameRedactor({ listForms: () => forms });
    const deltas = cut(`before ${encoded} after`, [end, end * 2, end + 7, ...Array.from({ length: 9 }, (_, at) => at)]);
    const events = deltas.map((delta) => ({ type: "text_delta", messageId: "1", delta }));
    const written = [...events, { type: "message_end", messageId: "1" }].flatMap((event) =>
      redactor.redactEvent<object>(event),
    );
    expect(written.map((event) => ("delta" in event ? event.delta : "")).join("")).toBe("before [secret] after");
  }
  expect(removeSecrets(`x${encoded}x`, [own])).toBe("x[secret]x");
});

test("what is held back is found as fast in a text and a key that repeat themselves", () => {
  const key = `${"a".repeat(200_000)}b`;
  expect(countUnfinished("a".repeat(400_000), [key])).toBe(200_000);
  expect(countUnfinished(`${"a".repeat(400_000)}c`, [key])).toBe(0);
});

test("what is held back is the longest end of a text that begins a key", () => {
  const letters = fc.array(fc.constantFrom("a", "b"), { minLength: 1, maxLength: 12 }).map((all) => all.join(""));
  fc.assert(
    fc.property(letters, letters, (text, form) => {
      const ends = Array.from({ length: Math.min(text.length, form.length - 1) }, (_, index) => index + 1);
      const expected = Math.max(0, ...ends.filter((length) => form.startsWith(text.slice(-length))));
      expect(countUnfinished(text, [form])).toBe(expected);
    }),
  );
});

test("only the longest beginning of a key at the end counts", () => {
  expect(countUnfinished("x aab", ["aabc", "bc"])).toBe(3);
  expect(countUnfinished("x abc", ["abc"])).toBe(0);
  expect(countUnfinished("x aaa", ["aaab"])).toBe(3);
  expect(countUnfinished("", ["abc"])).toBe(0);
});
