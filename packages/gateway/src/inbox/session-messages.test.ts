import { createFakeClock } from "@tau/ai/testing";
import { expect, test } from "vitest";
import { GatewayError } from "../errors.ts";
import type { InboxStore } from "./inbox-store.ts";
import type { StoredMessage } from "./message.ts";
import { MessageTable } from "./records.ts";
import { SessionMessages } from "./session-messages.ts";

const message: StoredMessage = {
  id: "m",
  sessionId: "s",
  text: "Hello.",
  mode: "steer",
  origin: { kind: "client" },
  acceptedAt: 0,
  state: "waiting",
};

/** An inbox with one message on a disk that may be full. */
function open() {
  const disk = { isFull: true };
  const table = new MessageTable();
  table.take({ type: "message", message });
  const store: InboxStore = {
    messages: table,
    accept: async () => {},
    handOver: async () => {},
    async settle(ids, outcome) {
      if (disk.isFull) throw new GatewayError("unavailable", "The disk is full.");
      table.take({ type: "settled", ids, outcome });
    },
    close: async () => {},
  };
  const clock = createFakeClock();
  const logged: string[] = [];
  let written = 0;
  const log = (line: string) => void logged.push(line);
  const told: StoredMessage[] = [];
  const messages = new SessionMessages("s", {
    store,
    clock,
    log,
    onGivenUp: (each) => told.push(each),
    onWritten: () => written++,
  });
  return { disk, table, clock, messages, logged, told, countWritten: () => written };
}

test("an outcome that could not be written counts, and is written when the disk takes it", async () => {
  const { disk, table, clock, messages, logged, countWritten } = open();
  await messages.settle([message], { kind: "injected" });
  expect(messages.listUnsettled()).toEqual([]);
  expect(messages.isEmpty).toBe(false);
  await clock.advance(60_000);
  expect([table.counts.waiting, countWritten()]).toEqual([1, 0]);
  disk.isFull = false;
  await clock.advance(5_000);
  expect([table.counts.waiting, countWritten()]).toEqual([0, 1]);
  expect(messages.isEmpty).toBe(true);
  expect(logged).toHaveLength(1);
});

test("that a message is given up is told when it is on the disk, and once", async () => {
  const { disk, clock, messages, told } = open();
  await messages.settle([message], { kind: "dead", reason: "It is too old." });
  expect(told).toEqual([]);
  disk.isFull = false;
  await clock.advance(5_000);
  expect(told).toEqual([{ ...message, state: "dead", reason: "It is too old." }]);
  await clock.advance(60_000);
  expect(told).toHaveLength(1);
});

test("a message that belongs to another node by now is not told as given up", async () => {
  const { disk, table, messages, told } = open();
  disk.isFull = false;
  table.clear();
  await messages.settle([message], { kind: "dead", reason: "It could not be said." });
  expect(told).toEqual([]);
});

test("an outcome that somebody is told is on the disk, or the message has none", async () => {
  const { disk, table, messages } = open();
  await expect(messages.mustSettle(message, { kind: "cancelled", reason: "" })).rejects.toThrow("full");
  expect(messages.listUnsettled()).toEqual([message]);
  disk.isFull = false;
  await messages.mustSettle(message, { kind: "cancelled", reason: "" });
  expect(table.counts.waiting).toBe(0);
});

test("nothing is written after the gateway has stopped", async () => {
  const { disk, table, clock, messages } = open();
  await messages.settle([message], { kind: "injected" });
  messages.stop();
  disk.isFull = false;
  await clock.advance(60_000);
  expect(table.counts.waiting).toBe(1);
});

test("a message whose end fails has no outcome", async () => {
  const { messages } = open();
  const fail = () => Promise.reject(new Error("The session was closed."));
  await expect(messages.settleIf(message, { kind: "injected" }, fail)).rejects.toThrow("closed");
  expect(messages.listUnsettled()).toEqual([message]);
});
