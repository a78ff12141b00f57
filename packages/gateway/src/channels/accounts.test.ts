import { systemClock } from "@tau/ai";
import type { Channel, ChannelEvents } from "@tau/extensions";
import { expect, test } from "vitest";
import type { GatewaySettings } from "../settings.ts";
import { ChannelAccounts } from "./accounts.ts";
import { ChannelCounts } from "./counts.ts";

/** Accounts whose connections end only when `release` is called, and how often each was opened and closed. */
function openAccounts() {
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  const happened: string[] = [];
  const createChannel = (accountId: string): Channel => ({
    limits: { maxTextLength: 100, maxFileBytes: 0, provesNonce: false },
    async run({ onState }: ChannelEvents, signal) {
      onState({ kind: "connected" });
      happened.push(`${accountId} begins`);
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      await released;
      happened.push(`${accountId} ends`);
    },
    send: async () => ({ kind: "sent", messageId: "" }),
  });
  const accounts = new ChannelAccounts({
    loadType: async (_name, accountId) => ({ type: { secrets: {}, open: async () => createChannel(accountId) } }),
    getSecret: async () => "",
    openPosition: () => ({ read: async () => undefined, write: async () => {} }),
    clock: systemClock,
    counts: new ChannelCounts(),
    log: () => {},
  });
  const events = { onMessage: async () => {}, onPress: async () => {}, onOpen: () => {} };
  const start = async (settings: GatewaySettings["channels"]) => {
    await accounts.start(settings, events);
    const count = Object.keys(settings).length;
    await expect.poll(() => accounts.list().filter(({ state }) => state.kind === "connected").length).toBe(count);
  };
  return { accounts, happened, start, release: () => release() };
}

const [one, changed] = [{ type: "test" }, { type: "test", groups: "never" as const }];

test("an account that was changed is connected again, and the others stay", async () => {
  const { accounts, happened, start, release } = openAccounts();
  await start({ a: one, b: one });
  release();
  expect(await accounts.apply({ a: changed, b: one })).toEqual(["a"]);
  await expect.poll(() => happened).toEqual(["a begins", "b begins", "a ends", "a begins"]);
  await accounts.close();
});

test("of settings that are taken at the same time the last ones apply", async () => {
  const { accounts, happened, start, release } = openAccounts();
  await start({ a: one });
  const taken = [accounts.apply({ a: changed }), accounts.apply({})];
  release();
  await Promise.all(taken);
  expect(accounts.list()).toEqual([]);
  await expect.poll(() => happened.at(-1)).toBe("a ends");
});

test("nothing is opened once all are being closed", async () => {
  const { accounts, happened, start, release } = openAccounts();
  await start({ a: one });
  const taken = accounts.apply({ a: changed });
  const closed = accounts.close();
  release();
  await Promise.all([taken, closed]);
  expect(accounts.list()).toEqual([]);
  expect(happened).toEqual(["a begins", "a ends"]);
});
