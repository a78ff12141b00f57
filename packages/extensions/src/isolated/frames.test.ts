import { expect, test } from "vitest";
import fc from "fast-check";
import { encodeFrame, encodeText, FrameError, FrameReader, maxFrameBytes, maxValues, parseMessage } from "./frames.ts";

test("frames that arrive in any pieces give the same messages", () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue(), { maxLength: 6 }), fc.array(fc.nat(40), { maxLength: 40 }), (values, cuts) => {
      const messages = JSON.parse(JSON.stringify(values)) as unknown[];
      fc.pre(!JSON.stringify(messages).includes("__proto__"));
      const bytes = Buffer.concat(messages.map(encodeFrame));
      const reader = new FrameReader();
      const read: unknown[] = [];
      let offset = 0;
      for (const cut of [...cuts, bytes.length]) {
        read.push(...reader.push(bytes.subarray(offset, offset + cut)));
        offset += cut;
      }
      expect(read).toEqual(messages);
    }),
  );
});

test.each([`{"__proto__":{}}`, String.raw`{"\u005f_proto__":{}}`, String.raw`[{"a":{"_\u005Fproto__":1}}]`])(
  "the key of a prototype is refused: %s",
  (json) => {
    expect(() => parseMessage(json)).toThrow("__proto__");
  },
);

test("the word in a text is no key", () => {
  expect(parseMessage(`{"text":"x.__proto__ = 1"}`)).toEqual({ text: "x.__proto__ = 1" });
});

test("a length that is too large is refused before anything is kept", () => {
  const header = Buffer.alloc(4);
  header.writeUInt32BE(maxFrameBytes + 1);
  expect(() => new FrameReader().push(header)).toThrow(FrameError);
  expect(() => encodeFrame("x".repeat(maxFrameBytes))).toThrow(FrameError);
});

test("a message with too many values is refused before it is read", () => {
  const read = (json: string) => new FrameReader({ isBounded: true }).push(encodeText(json));
  const repeated = (text: string, count: number) => `[${Array.from({ length: count }, () => text).join(",")}]`;
  for (const text of ["[]", "1", '"\\""', '"\\\\"'])
    expect(() => read(repeated(text, maxValues + 1)), text).toThrow("too many values");
  // What is in a text is no value.
  const [message] = read(JSON.stringify({ text: '[{",\\'.repeat(maxValues) }));
  expect(message).toEqual({ text: '[{",\\'.repeat(maxValues) });
});

test("values are counted for as long as messages come, and levels are limited", () => {
  const reader = new FrameReader({ isBounded: true });
  reader.push(encodeFrame({ a: [1, 2], b: "x" }));
  reader.push(encodeFrame(1));
  expect(reader.values).toBe(6);
  expect(() => reader.push(encodeText("[".repeat(65) + "]".repeat(65)))).toThrow("too many levels");
});
