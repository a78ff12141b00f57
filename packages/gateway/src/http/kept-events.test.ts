import { expect, test } from "vitest";
import { KeptEvents, parseEventId } from "./kept-events.ts";
import { McpResponse } from "./mcp-response.ts";
import { McpStreams } from "./mcp-streams.ts";

const countEvents = (text: string): number => text.split("\n\n").length - 1;

test("events have ids that name their stream, and what came after one is the same text again", () => {
  const kept = new KeptEvents("abc");
  const sent = ["", "{}", '{"a":1}'].map((data) => kept.add(data));
  expect(sent[0]).toBe("id: abc.0\nevent: message\ndata: \n\n");
  expect([kept.after(-1), kept.after(0), kept.after(2)]).toEqual([sent.join(""), sent.slice(1).join(""), ""]);
});

test("a flood of events is kept in part, and the last one always", () => {
  const many = new KeptEvents("a");
  for (let index = 0; index < 10_000; index++) many.add(`${index}`);
  expect(countEvents(many.after(-1))).toBe(100);
  expect(many.after(9_998)).toContain("data: 9999\n");
  const large = new KeptEvents("b");
  for (let index = 0; index < 50; index++) large.add("x".repeat(100_000));
  expect(countEvents(large.after(-1))).toBe(2);
  const last = large.add("y".repeat(1_000_000));
  expect([large.after(-1), large.bytes]).toEqual([last, last.length]);
});

test.each([
  "",
  "abc",
  "abc.",
  ".1",
  "abc.-1",
  "abc.1.2",
  "a b.1",
  `${"x".repeat(33)}.1`,
  "abc.1e9",
  `abc.${"9".repeat(16)}`,
])("%j is not the id of an event", (value) => {
  expect(parseEventId(value)).toBeUndefined();
});

test("streams that have ended are kept up to a limit, and open ones are kept", () => {
  const streams = new McpStreams();
  const add = () => {
    let id = "";
    const stream = streams.open("client", (kept) => {
      id = kept.streamId;
      kept.add("x".repeat(1024 * 1024));
      return new McpResponse(undefined as never, { takesEvents: true, kept });
    });
    return { id, end: stream.end };
  };
  const open = add();
  const ended = Array.from({ length: 20 }, add);
  for (const { end } of ended) end();
  const isKept = ({ id }: { id: string }) => streams.find("client", id) !== undefined;
  expect(ended.map(isKept)).toEqual(ended.map((_stream, index) => index >= 5));
  expect([isKept(open), streams.find("other", open.id)]).toEqual([true, undefined]);
  streams.forget("client");
  expect([open, ...ended].filter(isKept)).toEqual([]);
});
