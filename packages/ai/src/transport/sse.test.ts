import fc from "fast-check";
import { expect, test } from "vitest";
import { type ServerSentEvent, SseFramer } from "./sse.ts";

const encoder = new TextEncoder();

const frame = (bytes: Uint8Array, cuts: number[]): ServerSentEvent[] => {
  const framer = new SseFramer();
  const offsets = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  const events: ServerSentEvent[] = [];
  let from = 0;
  for (const to of [...offsets, bytes.length]) {
    events.push(...framer.push(bytes.subarray(from, to)));
    from = to;
  }
  return [...events, ...framer.end()];
};

const frameText = (text: string, cuts: number[] = []) => frame(encoder.encode(text), cuts);

test.each([
  ["LF", "event: a\ndata: 1\n\ndata: 2\n\n"],
  ["CRLF", "event: a\r\ndata: 1\r\n\r\ndata: 2\r\n\r\n"],
  ["CR", "event: a\rdata: 1\r\rdata: 2\r\r"],
  ["no space after the colon", "event:a\ndata:1\n\ndata:2\n\n"],
  ["a byte order mark", "\ufeffevent: a\ndata: 1\n\ndata: 2\n\n"],
  ["comments and unknown fields", ": hi\nevent: a\nfoo: bar\ndata: 1\nretry: x\n\n:\n\ndata: 2\n\n"],
  ["no blank line at the end", "event: a\ndata: 1\n\ndata: 2"],
])("events are read with %s", (_name, text) => {
  expect(frameText(text)).toEqual([{ event: "a", data: "1" }, { data: "2" }]);
});

test("data over several lines keeps its line breaks", () => {
  expect(frameText("data: a\ndata: b\n\n")).toEqual([{ data: "a\nb" }]);
});

test("an error outside of the events is an event too", () => {
  expect(frameText('data: 1\n\nerror: {"code":500}\n\ndata: 2\n\n')).toEqual([
    { data: "1" },
    { event: "error", data: '{"code":500}' },
    { data: "2" },
  ]);
  const bare = '{\n  "error": {\n    "code": 503\n  }\n}\n';
  expect(frameText(`data: 1\n\n${bare}`)).toEqual([{ data: "1" }, { data: bare }]);
});

test("a body split at any byte gives the same events, even inside a character", () => {
  const body = encoder.encode('event: delta\ndata: {"t":"Zürich 🌍"}\n\n: ping\r\n\r\ndata: x\r\rdata: [DONE]\n\n');
  const whole = frame(body, []);
  for (let offset = 0; offset <= body.length; offset++) expect(frame(body, [offset])).toEqual(whole);
  for (let size = 1; size < 9; size++) {
    const cuts = Array.from({ length: Math.ceil(body.length / size) }, (_unused, index) => index * size);
    expect(frame(body, cuts)).toEqual(whole);
  }
});

test("arbitrary bytes, split anywhere, give the same events and never throw", () => {
  const noise = fc.array(
    fc.constantFrom("data: ", "event: x", "error: ", "\n", "\r", "\r\n", ":", "é", "🌍", "{}", " ", "\u0000", "id: 1"),
  );
  fc.assert(
    fc.property(noise, fc.array(fc.nat()), (parts, cuts) => {
      const body = encoder.encode(parts.join(""));
      expect(frame(body, cuts)).toEqual(frame(body, []));
    }),
    { numRuns: 2_000 },
  );
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.array(fc.nat()), (body, cuts) => {
      expect(frame(body, cuts)).toEqual(frame(body, []));
    }),
    { numRuns: 2_000 },
  );
});

test("a line of ten megabytes that arrives in small pieces is read completely", () => {
  const framer = new SseFramer();
  const piece = encoder.encode("x".repeat(1_000));
  framer.push(encoder.encode("data: "));
  for (let count = 0; count < 10_000; count++) framer.push(piece);
  const [event] = framer.push(encoder.encode("\n\n"));
  expect(event?.data.length).toBe(10_000_000);
});
