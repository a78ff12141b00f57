import { expect, test } from "vitest";
import { AiError } from "./errors.ts";
import type { AssistantMessageEvent } from "./event.ts";
import { AssistantMessageEventStream, EventStream } from "./event-stream.ts";
import type { AssistantMessage } from "./message.ts";
import { emptyUsage } from "./usage.ts";

const countdown = () =>
  new EventStream<number, string>(
    (event) => event === 0,
    (event) => `ended at ${event}`,
  );

const drain = async <T>(stream: AsyncIterable<T>) => {
  const events: T[] = [];
  for await (const event of stream) events.push(event);
  return events;
};

const message = (extra: Partial<AssistantMessage> = {}): AssistantMessage => ({
  role: "assistant",
  content: [{ type: "text", text: "Hel" }],
  api: "a",
  provider: "p",
  model: "m",
  usage: emptyUsage(),
  stopReason: "stop",
  timestamp: 7,
  ...extra,
});

test("events arrive in order, whether they were pushed before or after reading began", async () => {
  const stream = countdown();
  stream.push(2);
  const reading = drain(stream);
  await Promise.resolve();
  stream.push(1);
  stream.push(0);
  expect(await reading).toEqual([2, 1, 0]);
  expect(await stream.result()).toBe("ended at 0");
});

test("events pushed after the end are dropped", async () => {
  const stream = countdown();
  stream.push(0);
  stream.push(5);
  stream.end("other");
  stream.fail(new Error("late"));
  expect(await drain(stream)).toEqual([0]);
  expect(await stream.result()).toBe("ended at 0");
});

test("a stream that ends early rejects its result and still ends iteration", async () => {
  const stream = countdown();
  stream.push(3);
  stream.end();
  expect(await drain(stream)).toEqual([3]);
  await expect(stream.result()).rejects.toMatchObject({ name: "AiError", code: "stream_incomplete" });
});

test("end can set the result", async () => {
  const stream = countdown();
  stream.end("explicit");
  expect(await stream.result()).toBe("explicit");
});

test("the end of the stream resolves all pending reads", async () => {
  const stream = countdown();
  const iterator = stream[Symbol.asyncIterator]();
  const waits = [iterator.next(), iterator.next()];
  stream.end("x");
  expect(await Promise.all(waits)).toEqual([
    { value: undefined, done: true },
    { value: undefined, done: true },
  ]);
});

test("ready and read give the same events as iteration, and report the end", async () => {
  const stream = countdown();
  const events: number[] = [];
  const reading = (async () => {
    while (await stream.ready())
      for (let event = stream.read(); event !== undefined; event = stream.read()) events.push(event);
  })();
  stream.push(3);
  await Promise.resolve();
  stream.push(2);
  stream.push(1);
  await new Promise((resolve) => setImmediate(resolve));
  expect(events).toEqual([3, 2, 1]);
  stream.push(0);
  await reading;
  expect(events).toEqual([3, 2, 1, 0]);
  expect(stream.read()).toBeUndefined();
  expect(await stream.ready()).toBe(false);
});

test("if the result of the terminal event cannot be extracted, result() rejects and the stream ends", async () => {
  const stream = new EventStream<number, string>(
    (event) => event === 0,
    () => {
      throw new Error("no result in it");
    },
  );
  stream.push(0);
  await expect(stream.result()).rejects.toThrow("no result in it");
  expect(await drain(stream)).toEqual([0]);
});

test("a failed stream whose result is never read causes no unhandled rejection", async () => {
  const unhandled: unknown[] = [];
  const listen = (reason: unknown) => unhandled.push(reason);
  process.on("unhandledRejection", listen);
  countdown().end();
  countdown().fail(new Error("producer broke"));
  await new Promise((resolve) => setImmediate(resolve));
  process.off("unhandledRejection", listen);
  expect(unhandled).toEqual([]);
});

const early: [string, (stream: AssistantMessageEventStream) => void, RegExp][] = [
  ["an early end", (stream) => stream.end(), /before its answer was complete/],
  ["a producer that throws", (stream) => stream.fail(new Error("producer broke")), /producer broke/],
];

test.each(early)("%s becomes one error event that keeps the received content", async (_name, finish, text) => {
  const stream = new AssistantMessageEventStream();
  stream.push({ type: "start", partial: message() });
  finish(stream);
  const events = await drain<AssistantMessageEvent>(stream);
  expect(events.map(({ type }) => type)).toEqual(["start", "error"]);
  const result = await stream.result();
  expect(result).toMatchObject({ stopReason: "error", provider: "p", content: [{ type: "text", text: "Hel" }] });
  expect(result.errorMessage).toMatch(text);
});

test("a stream that fails before its first event still has a message as result", async () => {
  const stream = new AssistantMessageEventStream();
  stream.fail(new AiError("unknown_api", "no such api"));
  expect(await stream.result()).toMatchObject({ role: "assistant", content: [], stopReason: "error" });
});

test.each([
  ["stop", "done"],
  ["toolUse", "done"],
  ["length", "done"],
  ["error", "error"],
  ["aborted", "error"],
] as const)("ending with a message that stopped for %s gives a %s event", async (stopReason, type) => {
  const stream = new AssistantMessageEventStream();
  stream.end(message({ stopReason }));
  const [event] = await drain<AssistantMessageEvent>(stream);
  expect(event).toMatchObject({ type, reason: stopReason });
  expect((await stream.result()).stopReason).toBe(stopReason);
});

test("reading a hundred thousand queued events takes time in proportion to their number", async () => {
  const stream = countdown();
  for (let remaining = 100_000; remaining >= 0; remaining--) stream.push(remaining);
  expect((await drain(stream)).length).toBe(100_001);
});
