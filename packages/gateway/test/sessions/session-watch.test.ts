import { call, createFakeClock, scriptedModel, text } from "@tau/ai/testing";
import { expect, onTestFinished, test } from "vitest";
import { maxBufferedBytes } from "../../src/client.ts";
import { SessionWatch } from "../../src/sessions/session-watch.ts";
import { connectRaw, openTestGateway, type RawClient } from "../../src/testing/index.ts";
import { MemoryClient } from "../bridge/kit.ts";

interface Listed {
  sessionId: string;
  status?: string;
  approvals?: number;
  name?: string;
}

const listChanges = (client: RawClient): Listed[][] =>
  client
    .events()
    .flatMap((frame) =>
      frame.event === "sessions.changed" ? [(frame.payload as { sessions: Listed[] }).sessions] : [],
    );

test("who watches is told what changes in the list, collected, and nobody else is", async () => {
  const model = scriptedModel([[call("read", { path: "/etc/os-release" })], [text("Done.")]]);
  const clock = createFakeClock(Date.now());
  const { gateway, token, workspace, close } = await openTestGateway({ model, options: { clock } });
  onTestFinished(close);
  const connect = () => connectRaw(gateway.url, { token, connect: { abilities: { approvals: true } } });
  const [watcher, other] = [await connect(), await connect()];
  await watcher.must("sessions.watch");
  // A second time changes nothing.
  await watcher.must("sessions.watch");
  const { sessionId } = await other.must<{ sessionId: string }>("sessions.create", { cwd: workspace, name: "A" });
  await clock.advance(250);
  await expect.poll(() => listChanges(watcher)).toMatchObject([[{ sessionId, status: "idle", name: "A" }]]);
  await other.must("sessions.subscribe", { sessionId });
  await other.must("session.prompt", { sessionId, message: "Read it." });
  await expect.poll(() => gateway.parts.sessions.find(sessionId)!.describe().approvals).toBe(1);
  await clock.advance(250);
  await expect.poll(() => listChanges(watcher).at(-1)).toMatchObject([{ status: "running", approvals: 1 }]);
  expect(listChanges(watcher)).toHaveLength(2);
  await other.must("session.abort", { sessionId });
  await expect.poll(() => gateway.parts.lanes.counts.held).toBe(0);
  await other.must("sessions.close", { sessionId });
  await clock.advance(250);
  await expect.poll(() => listChanges(watcher).at(-1)).toEqual([{ sessionId }]);
  expect(listChanges(other)).toEqual([]);
});

test("one that reads slowly is told later, and the others are told once", async () => {
  const clock = createFakeClock();
  const watch = new SessionWatch({ clock, describe: () => undefined });
  const told = { slow: [] as unknown[], quick: [] as unknown[] };
  const slow = new MemoryClient("slow", ({ payload }) => void told.slow.push(payload));
  const quick = new MemoryClient("quick", ({ payload }) => void told.quick.push(payload));
  for (const client of [slow, quick]) watch.add(client);
  slow.bufferedBytes = maxBufferedBytes;
  watch.markChanged("a");
  await clock.advance(2_000);
  expect(told).toEqual({ slow: [], quick: [{ sessions: [{ sessionId: "a" }] }] });
  watch.markChanged("b");
  await clock.advance(250);
  slow.bufferedBytes = 0;
  await clock.advance(250);
  expect(told.slow).toEqual([{ sessions: [{ sessionId: "a" }, { sessionId: "b" }] }]);
  expect(told.quick).toHaveLength(2);
  expect(clock.waiting).toBe(0);
});
