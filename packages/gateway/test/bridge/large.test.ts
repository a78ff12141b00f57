/** A session with much to show is sent in pieces, so that a slow connection is not taken for one that is lost. */
import type { SessionEntry } from "@tau/protocol";
import { addOlderEntries, reduce, unwrapEvent, type EventEnvelope, type View } from "@tau/protocol";
import type { SnapshotFrame } from "@tau/protocol/gateway";
import { expect, onTestFinished, test } from "vitest";
import { connectRaw, openTestGateway } from "../../src/testing/index.ts";

const maxFrameBytes = 1.1 * 1024 * 1024;

test("the frames of a large session are small, and together they are its branch", async () => {
  const { gateway, token, workspace, close } = await openTestGateway();
  onTestFinished(close);
  const client = await connectRaw(gateway.url, { token });
  const sizes: number[] = [];
  client.socket.on("message", (data: Buffer) => void sizes.push(data.length));
  const { sessionId } = await client.must<{ sessionId: string }>("sessions.create", { cwd: workspace });
  const { hosted } = gateway.parts.sessions.find(sessionId)!;
  const append = (size: number) =>
    hosted.session.sessionManager.appendMessage({ role: "user", content: "ü".repeat(size), timestamp: 0 });
  for (let each = 0; each < 60; each++) await append(20_000);
  await client.must("sessions.subscribe", { sessionId });
  await append(10);
  const list = () => client.events().filter((frame) => frame.event.startsWith("session."));
  await expect.poll(() => list().length).toBeGreaterThan(1);
  const [snapshot, ...later] = list();
  let { view } = (snapshot as SnapshotFrame).payload as { view: View };
  expect(view.log.hasOlder).toBe(true);
  expect(view.log.entries.length).toBeLessThan(30);
  for (const frame of later) view = reduce(view, unwrapEvent(frame as EventEnvelope)!);
  while (view.log.hasOlder) {
    const page = { before: view.log.entries[0]!.id, limit: 1_600 };
    const { entries } = await client.must<{ entries: SessionEntry[] }>("session.get_entries", { sessionId, ...page });
    view = addOlderEntries(view, entries, entries[0]!.parentId !== null);
  }
  expect(view.log.entries).toEqual(await hosted.session.sessionManager.getBranch());
  expect(Math.max(...sizes)).toBeLessThan(maxFrameBytes);
});
