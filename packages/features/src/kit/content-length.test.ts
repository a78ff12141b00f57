import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ContentLengthReader, type ContentLengthLimits, type Frame, toFrame } from "./content-length.ts";

const read = (bytes: Buffer | string, limits?: ContentLengthLimits): Frame[] =>
  new ContentLengthReader(limits).read(Buffer.from(bytes));

const message = (value: unknown): Frame => ({
  kind: "message",
  message: value,
  bytes: Buffer.byteLength(JSON.stringify(value)),
});

test("messages are read whatever pieces they arrive in", () => {
  fc.assert(
    fc.property(
      fc.array(fc.jsonValue(), { maxLength: 5 }),
      fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 20 }),
      (values, sizes) => {
        const bytes = Buffer.concat(values.map(toFrame));
        const reader = new ContentLengthReader();
        const frames: Frame[] = [];
        for (let start = 0, turn = 0; start < bytes.length; turn++) {
          const end = start + sizes[turn % sizes.length]!;
          frames.push(...reader.read(bytes.subarray(start, end)));
          start = end;
        }
        expect(frames).toEqual(values.map((value) => message(JSON.parse(JSON.stringify(value)))));
      },
    ),
  );
});

describe("headers", () => {
  test.each([
    ["more fields", "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"],
    ["other letters and spaces", "CONTENT-LENGTH :  2 \r\n\r\n{}"],
    ["line feeds alone", "Content-Length: 2\n\n{}"],
    ["a greeting before it", "Listening at 127.0.0.1:1\nContent-Length: 2\r\n\r\n{}"],
    ["a greeting with an empty line", "Welcome\n\n\nContent-Length: 2\r\n\r\n{}"],
  ])("a header may have %s", (_name, text) => {
    expect(read(text)).toEqual([message({})]);
  });

  test.each([
    ["negative", "-1"],
    ["no number", "ten"],
    ["empty", ""],
    ["in another base", "0x10"],
    ["as long as no memory is", "9".repeat(400)],
    ["above the limit", "101"],
  ])("a length that is %s ends the stream", (_name, length) => {
    const frames = read(`Content-Length: ${length}\r\n\r\n${toFrame({}).toString()}`, { maxBytes: 100 });
    expect(frames.map(({ kind }) => kind)).toEqual(["broken"]);
  });
});

test("a message that is no JSON costs itself alone", () => {
  const frames = read("Content-Length: 5\r\n\r\n{ohnoContent-Length: 0\r\n\r\nContent-Length: 2\r\n\r\n{}");
  expect(frames.map(({ kind }) => kind)).toEqual(["unreadable", "unreadable", "message"]);
});

test("what is wrong with a message is said in visible characters", () => {
  const texts = ["Content-Length: \u001b[2J5\r\n\r\n", "Content-Length: 6\r\n\r\n\u001b[2J{}"];
  for (const [frame] of texts.map((text) => read(text))) expect(JSON.stringify(frame)).not.toContain("\\u001b");
});

test("a stream without messages ends at its limit, and keeps nothing", () => {
  const reader = new ContentLengthReader({ maxHeaderBytes: 1_000 });
  const frames = Array.from({ length: 100 }, () => reader.read(Buffer.alloc(100, "x"))).flat();
  expect(frames.map(({ kind }) => kind)).toEqual(["broken"]);
  expect(reader.read(toFrame({}))).toEqual([]);
});

test("characters of several bytes count as bytes", () => {
  expect(read(toFrame({ text: "τ🙂" }))).toEqual([message({ text: "τ🙂" })]);
});
