import { expect, onTestFinished, test } from "vitest";
import { createFakeClock } from "@tau/ai/testing";
import type { EventFrame } from "@tau/protocol/gateway";
import { encodeJson } from "../../src/encoded-frame.ts";
import { SnapshotBudget } from "../../src/bridge/snapshot-budget.ts";
import { maxBufferedBytes } from "../../src/client.ts";
import { connectRaw, openTestGateway } from "../../src/testing/index.ts";
import { MemoryClient, openBridge } from "./kit.ts";

const chunk = "x".repeat(10_000);

async function follow() {
  const bridge = await openBridge();
  const frames: EventFrame[] = [];
  const client = new MemoryClient("slow", (frame) => void frames.push(frame));
  bridge.subscriptions.add(client, bridge.open);
  const names = () => frames.map(({ event }) => event);
  return { ...bridge, client, frames, names };
}

test("a client that does not read keeps at most its budget waiting", async () => {
  const { session, client } = await follow();
  client.stall();
  for (let each = 0; each < 1_000; each++) session.notify("test", chunk);
  expect(client.bufferedBytes).toBeLessThanOrEqual(maxBufferedBytes);
  expect(client.bufferedBytes).toBeGreaterThan(maxBufferedBytes / 2);
});

test("many small frames are bounded in number too", async () => {
  const { session, client, frames } = await follow();
  session.notify("test", "first");
  client.stall();
  for (let each = 0; each < 5_000; each++) session.notify("test", "x");
  client.goOn();
  expect(frames.length).toBeLessThan(1_100);
});

test("when it has caught up it gets a snapshot and then every event", async () => {
  const { session, client, clock, open, frames, names } = await follow();
  client.stall();
  for (let each = 0; each < 200; each++) session.notify("test", chunk);
  await clock.advance(10_000);
  client.goOn();
  const count = frames.length;
  await clock.advance(100);
  session.notify("test", "after");
  expect(names().slice(count)).toEqual(["session.snapshot", "session.notice"]);
  expect(frames.at(-1)).toMatchObject({ seq: open.hosted.position.seq });
  expect(frames.at(-2)).toMatchObject({ seq: open.hosted.position.seq - 1 });
});

test("a client that does not read for half a minute is closed, and others do not notice", async () => {
  const { session, client, clock, open, subscriptions } = await follow();
  const seqs: number[] = [];
  const other = new MemoryClient("other", (frame) => void ("seq" in frame && seqs.push(frame.seq)));
  subscriptions.add(other, open);
  client.stall();
  for (let each = 0; each < 200; each++) session.notify("test", chunk);
  await clock.advance(29_900);
  expect(client.closedWith).toBeUndefined();
  await clock.advance(200);
  expect(client.closedWith).toBe(1013);
  expect(subscriptions.count(session.sessionId)).toBe(1);
  session.notify("test", "after");
  expect(seqs).toEqual(Array.from({ length: seqs.length }, (_unused, index) => seqs[0]! + index));
  expect(seqs.at(-1)).toBe(open.hosted.position.seq);
  expect(clock.waiting).toBe(1);
});

test("a client that always reads a little is not closed", async () => {
  const { session, client, clock } = await follow();
  for (let round = 0; round < 10; round++) {
    client.stall();
    for (let each = 0; each < 200; each++) session.notify("test", chunk);
    await clock.advance(20_000);
    client.goOn();
    await clock.advance(100);
  }
  expect(client.closedWith).toBeUndefined();
});

test("snapshots that wait are shared, and bounded over all clients", () => {
  const budget = new SnapshotBudget(100);
  const encode = (length: number) => encodeJson(Buffer.alloc(length));
  const [large, small, other] = [encode(200), encode(60), encode(50)];
  expect([budget.take(large), budget.take(large), budget.take(small)]).toEqual([true, true, false]);
  budget.release(large);
  expect(budget.take(small)).toBe(false);
  budget.release(large);
  expect([budget.bytes, budget.take(small), budget.take(other)]).toEqual([0, true, false]);
  budget.release(small);
  expect(budget.bytes).toBe(0);
});

test("over a real socket that does not read, the gateway keeps little and closes it", async () => {
  const clock = createFakeClock();
  const { gateway, token, workspace, close } = await openTestGateway({ options: { clock } });
  onTestFinished(close);
  const slow = await connectRaw(gateway.url, { token });
  const other = await connectRaw(gateway.url, { token });
  const { sessionId } = await slow.must<{ sessionId: string }>("sessions.create", { cwd: workspace });
  await slow.must("sessions.subscribe", { sessionId });
  await other.must("sessions.subscribe", { sessionId });
  const { session, position: _position } = gateway.parts.sessions.find(sessionId)!.hosted;
  const [client] = gateway.parts.connections.list();
  slow.socket.pause();
  const large = "y".repeat(100_000);
  // More than the system takes for the connection.
  for (let each = 0; each < 400; each++) {
    session.notify("test", large);
    if (each % 20 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  expect(client!.bufferedBytes).toBeLessThan(2 * maxBufferedBytes);
  expect(client!.bufferedBytes).toBeGreaterThan(0);
  await clock.advance(32_000);
  await expect.poll(() => gateway.parts.connections.count).toBe(1);
  session.notify("test", "the last");
  await expect
    .poll(() => other.events().some((frame) => JSON.stringify(frame.payload).includes("the last")))
    .toBe(true);
});
