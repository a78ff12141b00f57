import { expect, test } from "vitest";
import { MemoryClient, openBridge } from "./kit.ts";

test("a session that is closed or followed leaves nothing behind on the clients that have opened it", async () => {
  const { open, subscriptions } = await openBridge();
  const [one, two] = [new MemoryClient("one", () => {}), new MemoryClient("two", () => {})];
  open.setOnDisconnect("stop", one);
  open.setOnDisconnect("stop", one);
  open.setOnDisconnect("stop", two);
  expect([one.listenerCount, two.listenerCount]).toEqual([1, 1]);
  subscriptions.add(one, open);
  // That of its outbox, which sends to it as long as it is connected.
  expect(one.listenerCount).toBe(1);
  open.end();
  expect([one.listenerCount, two.listenerCount]).toEqual([1, 0]);
});
