import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFakeClock } from "@tau/ai/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { ChannelCounts } from "../../src/channels/counts.ts";
import { createCopiesInFiles } from "../../src/channels/file-copies.ts";
import { ChannelOutbox } from "../../src/channels/outbox.ts";
import type { StoredReply } from "../../src/channels/records.ts";
import { createRecordFiles } from "@tau/tools/storage";
import { openChannelStore } from "../../src/channels/store.ts";
import { TestChannel } from "./kit.ts";

const startedAt = 1_700_000_000_000;

const reply = (id: string, channelId = "a"): StoredReply => ({
  id,
  sessionId: "s",
  accountId: "chat",
  address: { channelId },
  text: id,
  recordedAt: startedAt,
});

async function createDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "tau-outbox-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

/** An outbox over a directory. `end` closes its file as a killed process would: nothing is said to the outbox. */
async function openOutbox(directory: string, channel = new TestChannel()) {
  const clock = createFakeClock(startedAt);
  const store = await openChannelStore(createRecordFiles({ agentDir: directory }));
  const lines: string[] = [];
  const counts = new ChannelCounts();
  const log = (line: string) => void lines.push(line);
  const fileCopies = createCopiesInFiles("/nowhere");
  const outbox = new ChannelOutbox({ store, findChannel: () => channel, fileCopies, clock, counts, log });
  outbox.start();
  const states = () => [...store.table.replies()].map(({ id, state }) => [id, state]);
  return { outbox, store, clock, channel, lines, states, end: () => store.close() };
}

test("what is certainly not delivered is sent again after a pause, and what comes later waits for it", async () => {
  const { outbox, channel, clock, end } = await openOutbox(await createDirectory());
  onTestFinished(end);
  channel.nextDeliveries.push({ kind: "not_sent", reason: "limited", retryAfterMs: 3_000 });
  await outbox.add([reply("1"), reply("2"), reply("other", "b")]);
  await expect.poll(() => channel.sent.map(({ text }) => text)).toEqual(["other"]);
  await expect.poll(() => clock.waiting).toBe(1);
  await clock.advance(2_000);
  expect(channel.sent).toHaveLength(1);
  await clock.advance(1_000);
  await expect.poll(() => channel.textsTo("a")).toEqual(["1", "2"]);
  expect(channel.attempts.filter(({ text }) => text === "1").map(({ nonce }) => nonce)).toEqual(["1", "1"]);
});

describe("an attempt whose end is not known", () => {
  test("is not made again where the platform cannot tell, and is shown", async () => {
    const { outbox, channel, states, lines, end } = await openOutbox(await createDirectory());
    onTestFinished(end);
    channel.nextDeliveries.push({ kind: "unknown", reason: "No answer came." });
    await outbox.add([reply("1"), reply("2")]);
    await expect.poll(() => channel.textsTo("a")).toEqual(["2"]);
    await expect.poll(states).toEqual([["1", "uncertain"]]);
    expect(lines.join()).toContain("may not have been delivered: No answer came.");
    expect(await outbox.sendAgain("1")).toBe(true);
    await expect.poll(() => channel.textsTo("a")).toEqual(["2", "1"]);
  });

  test("is made again with the same nonce where the platform makes one message of both", async () => {
    const channel = new TestChannel({ provesNonce: true });
    const { outbox, clock, end } = await openOutbox(await createDirectory(), channel);
    onTestFinished(end);
    channel.nextDeliveries.push({ kind: "unknown", reason: "No answer came." });
    await outbox.add([reply("1")]);
    await expect.poll(() => clock.waiting).toBe(1);
    await clock.advance(1_000);
    await expect.poll(() => channel.textsTo("a")).toEqual(["1"]);
    expect(new Set(channel.attempts.map(({ nonce }) => nonce))).toEqual(new Set(["1"]));
  });

  test("is not made again once the platform has forgotten the nonce, whatever later attempts said", async () => {
    const channel = new TestChannel({ provesNonce: true, nonceExpiresInMs: 10_000 });
    const { outbox, clock, states, end } = await openOutbox(await createDirectory(), channel);
    onTestFinished(end);
    channel.nextDeliveries.push({ kind: "unknown", reason: "No answer came." });
    channel.nextDeliveries.push({ kind: "not_sent", reason: "limited", retryAfterMs: 9_500 });
    await outbox.add([reply("1"), reply("2")]);
    await expect.poll(() => clock.waiting).toBe(1);
    await clock.advance(1_000);
    await expect.poll(() => channel.attempts).toHaveLength(2);
    await expect.poll(() => clock.waiting).toBe(1);
    await clock.advance(9_500);
    await expect.poll(() => channel.textsTo("a")).toEqual(["2"]);
    await expect.poll(states).toEqual([["1", "uncertain"]]);
  });

  test.each([false, true])(
    "because the process was killed: sent again only if that is safe (%s)",
    async (provesNonce) => {
      const directory = await createDirectory();
      const first = await openOutbox(directory);
      // Killed between the record of the attempt and the answer of the platform.
      first.channel.send = () => new Promise(() => {});
      await first.outbox.add([reply("1"), reply("2")]);
      await expect.poll(first.states).toEqual([
        ["1", "sending"],
        ["2", "waiting"],
      ]);
      await first.end();
      const second = await openOutbox(directory, new TestChannel({ provesNonce }));
      onTestFinished(second.end);
      second.outbox.wake("chat");
      await expect.poll(() => second.channel.textsTo("a")).toEqual(provesNonce ? ["1", "2"] : ["2"]);
      await expect.poll(second.states).toEqual(provesNonce ? [] : [["1", "uncertain"]]);
    },
  );
});

test("a refused reply is kept to look at, and can be dropped", async () => {
  const { outbox, channel, states, end } = await openOutbox(await createDirectory());
  onTestFinished(end);
  channel.nextDeliveries.push({ kind: "refused", reason: "Blocked." });
  await outbox.add([reply("1")]);
  await expect.poll(states).toEqual([["1", "refused"]]);
  expect([await outbox.drop("1"), await outbox.drop("1")]).toEqual([true, false]);
  expect(states()).toEqual([]);
});

test("the same reply recorded twice is sent once", async () => {
  const { outbox, channel, end } = await openOutbox(await createDirectory());
  onTestFinished(end);
  await Promise.all([outbox.add([reply("1")]), outbox.add([reply("1")])]);
  await outbox.add([reply("2")]);
  await expect.poll(() => channel.textsTo("a")).toEqual(["1", "2"]);
});

describe("an answer that is shown while it is written", () => {
  const draft = (text: string): StoredReply => ({ ...reply("1"), text, isOpen: true });
  const complete = { ...reply("1"), text: "All of it." };
  const limits = { minEditIntervalMs: 1_000 };

  async function openDraft(channel = new TestChannel(limits), directory?: string) {
    const opened = await openOutbox(directory ?? (await createDirectory()), channel);
    await opened.outbox.add([draft("All")]);
    await expect.poll(opened.states).toEqual([["1", "shown"]]);
    return opened;
  }

  test("is one message, and what comes meanwhile does not wait for its end", async () => {
    const { outbox, channel, clock, states, end } = await openDraft();
    onTestFinished(end);
    await outbox.add([reply("2")]);
    await expect.poll(() => channel.textsTo("a")).toEqual(["All", "2"]);
    await clock.advance(1_000);
    expect(await outbox.showDraft("1", "All of")).toMatchObject({ kind: "sent" });
    await outbox.add([complete, reply("3")]);
    // The limit of the platform holds for the last edit too.
    await expect.poll(() => clock.waiting).toBe(1);
    await clock.advance(1_000);
    await expect.poll(states).toEqual([]);
    expect([...channel.shown.values()]).toEqual(["All of it.", "2", "3"]);
    expect(channel.attempts).toHaveLength(3);
  });

  test("needs no last edit if people see all of it", async () => {
    const { outbox, channel, states, end } = await openDraft();
    onTestFinished(end);
    await outbox.add([{ ...complete, text: "All" }]);
    await expect.poll(states).toEqual([]);
    expect(channel.seen).toEqual(["All"]);
  });

  test.each([
    ["limited", { kind: "not_sent", reason: "limited", retryAfterMs: 2_000 }],
    ["without an end that is known", { kind: "unknown", reason: "no answer" }],
  ] as const)("is edited again after an edit that was %s", async (_name, delivery) => {
    const { outbox, channel, clock, states, end } = await openDraft();
    onTestFinished(end);
    channel.nextEdits.push(delivery, delivery);
    await outbox.showDraft("1", "All of");
    await outbox.add([complete]);
    for (let count = 0; count < 3; count++) {
      await expect.poll(() => clock.waiting + states().length).not.toBe(1);
      await clock.advance(5_000);
    }
    await expect.poll(states).toEqual([]);
    expect([...channel.shown.values()]).toEqual(["All of it."]);
    expect(channel.attempts).toHaveLength(1);
  });

  test("is sent as a new message, which the platform does not take for the old one, if it cannot be edited", async () => {
    const { outbox, channel, clock, states, end } = await openDraft();
    onTestFinished(end);
    channel.nextEdits.push({ kind: "refused", reason: "It was deleted." });
    await outbox.add([complete]);
    await expect.poll(() => clock.waiting).toBe(1);
    await clock.advance(1_000);
    await expect.poll(states).toEqual([]);
    expect(channel.textsTo("a")).toEqual(["All", "All of it."]);
    expect(new Set(channel.attempts.map(({ nonce }) => nonce)).size).toBe(2);
  });

  test("begins with what is newest, and is sent whole if it was complete before anybody saw it", async () => {
    const { outbox, channel, clock, states, end } = await openOutbox(await createDirectory(), new TestChannel(limits));
    onTestFinished(end);
    channel.nextDeliveries.push({ kind: "not_sent", reason: "down" }, { kind: "not_sent", reason: "down" });
    await outbox.add([draft("All")]);
    await expect.poll(() => clock.waiting).toBe(1);
    await outbox.showDraft("1", "All of");
    await clock.advance(1_000);
    await expect.poll(() => channel.attempts.map(({ text }) => text)).toEqual(["All", "All of"]);
    await outbox.add([complete]);
    await expect.poll(() => clock.waiting).toBe(1);
    await clock.advance(2_000);
    await expect.poll(states).toEqual([]);
    expect(channel.seen).toEqual(["All of it."]);
  });

  test("is uncertain if it is not known whether its beginning was delivered", async () => {
    const { outbox, channel, store, states, end } = await openOutbox(await createDirectory(), new TestChannel(limits));
    onTestFinished(end);
    channel.nextDeliveries.push({ kind: "unknown", reason: "no answer" });
    await outbox.add([draft("All")]);
    await expect.poll(states).toEqual([["1", "uncertain"]]);
    await outbox.add([complete, reply("2")]);
    await expect.poll(() => channel.textsTo("a")).toEqual(["2"]);
    expect(store.table.getReply("1")).toMatchObject({ state: "uncertain", text: "All of it.", reason: "no answer" });
    expect(await outbox.sendAgain("1")).toBe(true);
    await expect.poll(states).toEqual([]);
    expect(channel.textsTo("a")).toEqual(["2", "All of it."]);
  });

  test.each([false, true])(
    "is completed where people see it after the process was killed (%s)",
    async (provesNonce) => {
      const directory = await createDirectory();
      const first = await openDraft(new TestChannel({ ...limits, provesNonce }), directory);
      await first.end();
      const second = await openOutbox(directory, first.channel);
      onTestFinished(second.end);
      second.outbox.wake("chat");
      await second.outbox.add([complete]);
      await expect.poll(second.states).toEqual([]);
      expect([...first.channel.shown.values()]).toEqual(["All of it."]);
    },
  );

  test.each([false, true])(
    "whose first attempt was cut by a kill is sent again only if that is safe (%s)",
    async (provesNonce) => {
      const directory = await createDirectory();
      const first = await openOutbox(directory, new TestChannel(limits));
      first.channel.send = () => new Promise(() => {});
      await first.outbox.add([draft("All")]);
      await expect.poll(first.states).toEqual([["1", "sending"]]);
      await first.end();
      const second = await openOutbox(directory, new TestChannel({ ...limits, provesNonce }));
      onTestFinished(second.end);
      second.outbox.wake("chat");
      await second.outbox.add([complete]);
      await expect.poll(second.states).toEqual(provesNonce ? [] : [["1", "uncertain"]]);
      // The platform may have taken the first attempt, so what it shows is edited.
      expect(second.channel.seen).toEqual(provesNonce ? ["All of it.", "All of it."] : []);
    },
  );
});
