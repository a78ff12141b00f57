import fc from "fast-check";
import { expect, test } from "vitest";
import { type Line, LineSplitter } from "./stream-lines.ts";

const toLines = (pieces: readonly Buffer[], maxBytes = 1_000): Line[] => {
  const splitter = new LineSplitter(maxBytes);
  return [...pieces.flatMap((piece) => splitter.push(piece)), ...splitter.end()];
};
const texts = (...lines: string[]): Line[] => lines.map((text) => ({ kind: "text", text }));

test("only LF ends a line, and a CR before it is dropped", () => {
  const input = "a\u2028b\u2029c\u0085d\ve\n\r\nf\r\rg\r\nlast";
  expect(toLines([Buffer.from(input)])).toEqual(texts("a\u2028b\u2029c\u0085d\ve", "", "f\r\rg", "last"));
});

test("lines are the same however the bytes are split", () => {
  const bytes = Buffer.from('{"text":"größer 🙂 \u2028"}\r\n{"b":2}\n\nend');
  const whole = toLines([bytes]);
  for (let first = 0; first <= bytes.length; first++) {
    for (let second = first; second <= bytes.length; second++) {
      const pieces = [bytes.subarray(0, first), bytes.subarray(first, second), bytes.subarray(second)];
      expect(toLines(pieces)).toEqual(whole);
    }
  }
  expect(toLines(Array.from(bytes, (byte) => Buffer.from([byte])))).toEqual(whole);
});

test("a line that is too long is reported once, however it is split, and the lines around it are complete", () => {
  const sizes = fc.array(fc.nat(12), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(sizes, fc.integer({ min: 1, max: 9 }), (lengths, cut) => {
      const bytes = Buffer.from(lengths.map((length) => "x".repeat(length)).join("\n"));
      const pieces: Buffer[] = [];
      for (let from = 0; from < bytes.length; from += cut) pieces.push(bytes.subarray(from, from + cut));
      const expected = lengths.map((length): Line =>
        length > 6 ? { kind: "too_long" } : { kind: "text", text: "x".repeat(length) },
      );
      if (lengths.at(-1) === 0) expected.pop();
      expect(toLines(pieces, 6)).toEqual(expected);
    }),
  );
});
