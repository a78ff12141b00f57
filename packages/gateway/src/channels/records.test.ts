import { expect, test } from "vitest";
import { type ChannelRecord, ChannelTable } from "./records.ts";

const received = (sourceMessageId: string): ChannelRecord => ({
  type: "received",
  conversation: {
    sessionId: "s",
    key: "k",
    accountId: "chat",
    address: { channelId: "c" },
    sourceMessageId,
    peer: { kind: "direct", id: "ann" },
    senderId: "ann",
  },
});

test.each<[string, ChannelRecord[], boolean]>([
  ["after the last message", [received("m1"), { type: "idle", sessionId: "s", sourceMessageId: "m1" }], false],
  [
    "that did not know of the last message",
    [received("m1"), received("m2"), { type: "idle", sessionId: "s", sourceMessageId: "m1" }],
    true,
  ],
  ["of an earlier version", [received("m1"), { type: "idle", sessionId: "s" }], false],
])("the end of a run %s", (_name, records, isExpecting) => {
  const table = new ChannelTable();
  for (const record of records) table.take(record);
  expect(table.getConversation("s")?.isExpecting).toBe(isExpecting);
});
