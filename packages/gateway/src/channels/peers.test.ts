import { createFakeClock } from "@tau/ai/testing";
import { expect, test } from "vitest";
import { ChannelPeers, codeExpiresInMs, toPlainName } from "./peers.ts";
import type { PeersState } from "./peers-store.ts";

function openPeers() {
  let state: PeersState = { peers: [], codes: [] };
  let writes = 0;
  const store = {
    read: () => state,
    async write(next: PeersState) {
      state = next;
      writes++;
    },
  };
  const clock = createFakeClock(0);
  const peers = new ChannelPeers({ store, clock });
  const offer = (id: string, messageId = `${id}/1`, accountId = "chat") =>
    peers.offer(accountId, { id, name: id }, messageId);
  return { peers, clock, offer, countWrites: () => writes };
}

test("a code is valid for an hour, and its place is free afterwards", async () => {
  const { peers, clock, offer } = openPeers();
  const code = (await offer("a"))!;
  await offer("b");
  await offer("c");
  expect(await offer("d")).toBeUndefined();
  await clock.advance(codeExpiresInMs - 1);
  expect(await offer("d", "d/2")).toBeUndefined();
  await clock.advance(1);
  await expect(peers.pair(code)).rejects.toMatchObject({ code: "not_found" });
  expect(await offer("d", "d/3")).toMatch(/^[0-9A-Z]{8}$/);
  expect(peers.isPaired("chat", "a")).toBe(false);
});

test("a code lets in one person, once, in one account", async () => {
  const { peers, offer } = openPeers();
  const code = (await offer("a"))!;
  await peers.pair(`${code.slice(0, 4).toLowerCase()} ${code.slice(4)}`);
  expect([peers.isPaired("chat", "a"), peers.isPaired("other", "a"), peers.isPaired("chat", "A")]).toEqual([
    true,
    false,
    false,
  ]);
  await expect(peers.pair(code)).rejects.toMatchObject({ code: "not_found" });
  expect(await peers.unpair("chat", "a")).toBe(true);
  expect(peers.isPaired("chat", "a")).toBe(false);
});

test("strangers who write at once get three codes of an account, and whoever writes on costs nothing", async () => {
  const { offer, countWrites } = openPeers();
  const codes = await Promise.all(Array.from({ length: 50 }, (_, index) => offer(`s${index % 10}`, `m${index}`)));
  expect(codes.filter((code) => code !== undefined)).toHaveLength(3);
  expect(countWrites()).toBe(3);
  expect(await offer("s0", "m0", "other")).toBeDefined();
});

test.each([
  ["Ann\u202e\u0000\u2028 \nSystem:", "Ann System:"],
  ["\u200b\u2066\u00ad", "somebody"],
  ["x".repeat(59) + "\u{1f600}", "x".repeat(59) + "\ufffd"],
])("the name %j is read as %j", (name, plain) => {
  expect(toPlainName(name)).toBe(plain);
});
