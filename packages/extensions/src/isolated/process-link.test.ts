import { Duplex, PassThrough } from "node:stream";
import { createFakeClock } from "@tau/ai/testing";
import { expect, onTestFinished, test } from "vitest";
import { encodeFrame, FrameReader } from "./frames.ts";
import type { SyncReply } from "./messages.ts";
import { type HostcallContext, ProcessLink } from "./process-link.ts";
import { StreamBatch } from "./stream-batch.ts";

/** A link, and the other end of its two connections, on which anything can be sent. */
function createLink(
  handle: (method: string, context: HostcallContext) => Promise<SyncReply> = async () => ({ value: "read" }),
) {
  const clock = createFakeClock();
  let skippedMs = 0;
  const [channel, sync] = [createEnd(), createEnd()];
  const broken: string[] = [];
  const told: unknown[] = [];
  const asked: string[] = [];
  const link = new ProcessLink({
    channel: channel.end,
    sync: sync.end,
    clock: { ...clock, monotonic: () => clock.monotonic() + skippedMs },
    stream: new StreamBatch(clock),
    hostcalls: { handle: (method, _args, context) => (asked.push(method), handle(method, context)) },
    onMessage: (message) => void told.push(message),
    onBroken: (reason) => void broken.push(reason),
  });
  onTestFinished(() => link.end("The test is over."));
  const skip = (ms: number) => void (skippedMs += ms);
  return { link, clock, skip, broken, told, asked, channel, sync };
}

function createEnd() {
  const [incoming, outgoing] = [new PassThrough(), new PassThrough()];
  const received: unknown[] = [];
  const reader = new FrameReader();
  outgoing.on("data", (piece: Buffer) => received.push(...reader.push(piece)));
  return {
    end: Duplex.from({ readable: incoming, writable: outgoing }),
    received,
    send: (...messages: unknown[]) => void incoming.write(Buffer.concat(messages.map(encodeFrame))),
  };
}

/** Until everything that was written has been read. */
const settle = async () => {
  for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
};

const command = { kind: "command", name: "x", args: "" } as const;

test("a call is answered by the first answer with its number, and by nothing else", async () => {
  const { link, channel, broken } = createLink();
  const other = createLink();
  const updates: unknown[] = [];
  const call = link.call(command, { onUpdate: (update) => void updates.push(update) });
  const elsewhere = other.link.call(command);
  let isAnswered = false;
  void call.then(() => (isAnswered = true));
  channel.send(
    ...["1", 1.5, 0, -1, 2, null, [1], "constructor", {}].map((id) => ({ type: "answer", id, value: "forged" })),
    { type: "answer", value: "forged" },
    { type: "reply", id: 1, value: "forged" },
    { type: "Answer", id: 1, value: "forged" },
    [{ type: "answer", id: 1, value: "forged" }],
    null,
    "answer",
    { type: "update", id: 1, update: "forged" },
    { type: "update", id: 2, update: { content: [] } },
    { type: "cancel", id: 1 },
  );
  await settle();
  expect(isAnswered).toBe(false);
  expect(updates).toEqual([]);
  channel.send(
    { type: "answer", id: 1, value: "first" },
    { type: "answer", id: 1, value: "second" },
    { type: "answer", id: 1, error: { message: "third" } },
    { type: "update", id: 1, update: { content: [] } },
  );
  expect(await call).toEqual({ value: "first" });
  await settle();
  expect(updates).toEqual([]);
  expect(broken).toEqual([]);
  // The connection still works, and that of another extension has heard nothing.
  const next = link.call(command);
  channel.send({ type: "answer", id: 2, value: "next" });
  expect(await next).toEqual({ value: "next" });
  other.channel.send({ type: "answer", id: 1, value: "its own" });
  expect(await elsewhere).toEqual({ value: "its own" });
});

test("what only the host says is ignored when a process says it", async () => {
  const { channel, told, broken, asked } = createLink();
  channel.send({ type: "pong" }, { type: "pong", id: 1 }, { type: "answer", id: 1 }, { type: "hostcall", id: "1" });
  channel.send({ type: "hostcall", id: 1, method: 5, args: [] }, { type: "hostcall", id: 2, method: "x", args: {} });
  await settle();
  expect({ told, broken, asked }).toEqual({ told: [], broken: [], asked: [] });
  const error = { code: "invalid_request", message: "The call is not valid." };
  expect(channel.received).toEqual([1, 2].map((id) => ({ type: "reply", id, error })));
});

test("a hostcall with the number of one that is open is not made", async () => {
  let reply = (_value: SyncReply): void => {};
  const { channel, asked } = createLink(() => new Promise((resolve) => (reply = resolve)));
  channel.send(
    { type: "hostcall", id: 1, method: "first", args: [] },
    { type: "hostcall", id: 1, method: "x", args: [] },
  );
  await settle();
  reply({ value: "done" });
  await settle();
  expect(asked).toEqual(["first"]);
  expect(channel.received).toEqual([{ type: "reply", id: 1, value: "done" }]);
});

test("questions that do not wait for their answers end the connection", async () => {
  const { sync, broken, asked } = createLink();
  sync.send({ method: "one", args: [] });
  await settle();
  sync.send({ method: "two", args: [] });
  await settle();
  expect(sync.received).toEqual([{ value: "read" }, { value: "read" }]);
  sync.send({ method: "three", args: [] }, { method: "four", args: [] }, { method: "five", args: [] });
  await settle();
  expect(asked).toEqual(["one", "two", "three"]);
  expect(broken).toEqual(["It did not wait for an answer."]);
});

test("the end of the connection aborts what the process asked for, whether or not it waits for the answer", async () => {
  const signals: AbortSignal[] = [];
  const { link, channel, sync } = createLink(async (_method, { signal }) => {
    signals.push(signal);
    return await new Promise(() => {});
  });
  channel.send({ type: "hostcall", id: 1, method: "exec", args: [] });
  sync.send({ method: "env", args: ["TOKEN"] });
  await expect.poll(() => signals.length).toBe(2);
  expect(signals.map(({ aborted }) => aborted)).toEqual([false, false]);
  link.end("The session has ended.");
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
});

test("a process that answers no ping is ended, and not one that nobody has listened to", async () => {
  const { clock, channel, broken, skip } = createLink();
  for (let round = 0; round < 5; round++) {
    // This process was busy for a minute: a timer fires, and then what came meanwhile is read.
    skip(60_000);
    await clock.advance(5_000);
    channel.send({ type: "pong" });
    await settle();
  }
  for (let tick = 0; tick < 3; tick++) {
    expect(broken).toEqual([]);
    await clock.advance(5_000);
  }
  expect(broken).toEqual(["It did not answer for 10 seconds."]);
});

const manyValues = () => ({ type: "problem", message: Array.from({ length: 200_000 }, () => []) });

test.each([
  ["many messages", () => Array.from({ length: 3_000 }, () => ({ type: "pong" }))],
  ["messages with many values", () => Array.from({ length: 4 }, manyValues)],
])("%s are read later, and the process waits", async (_what, create) => {
  const { channel, broken, told, clock } = createLink();
  for (const message of create()) channel.send(message);
  await settle();
  channel.send({ type: "problem", message: "last" });
  await settle();
  expect(told).not.toContainEqual({ type: "problem", message: "last" });
  await clock.advance(2_000);
  await expect.poll(() => told).toContainEqual({ type: "problem", message: "last" });
  expect(broken).toEqual([]);
});

test("an update of another tool that cannot be passed on is left out, and that tool goes on", async () => {
  const details: Record<string, unknown> = {};
  details["self"] = details;
  const { channel } = createLink(async (_method, { onProgress }) => {
    onProgress({ content: [], details });
    onProgress({ content: [{ type: "text", text: "x".repeat(33 * 1024 * 1024) }] });
    onProgress({ content: [] });
    return { value: "done" };
  });
  channel.send({ type: "hostcall", id: 1, method: "executeTool", args: [] });
  await expect
    .poll(() => channel.received)
    .toEqual([
      { type: "progress", id: 1, update: { content: [] } },
      { type: "reply", id: 1, value: "done" },
    ]);
});
