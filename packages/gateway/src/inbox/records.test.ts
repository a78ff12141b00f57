import fc from "fast-check";
import { expect, test } from "vitest";
import type { MessageOutcome, StoredMessage } from "./message.ts";
import { type InboxRecord, MessageTable } from "./records.ts";

const message = (id: string, sessionId = "s"): StoredMessage => ({
  id,
  sessionId,
  text: id,
  mode: "steer",
  origin: { kind: "client" },
  acceptedAt: 0,
  state: "waiting",
});

const ids = fc.constantFrom("a", "b", "c", "d");
const outcomes = fc.constantFrom<MessageOutcome>(
  { kind: "injected" },
  { kind: "cancelled", reason: "r" },
  { kind: "dead", reason: "r" },
  { kind: "dead", reason: "r", isUntold: true },
);
const records: fc.Arbitrary<InboxRecord> = fc.oneof(
  fc.record({
    type: fc.constant("message" as const),
    message: fc.tuple(ids, fc.constantFrom("s", "t")).map(([id, sessionId]) => message(id, sessionId)),
    replaces: fc.option(ids, { nil: undefined as never }),
  }),
  fc.record({
    type: fc.constant("handover" as const),
    ids: fc.uniqueArray(ids, { minLength: 1 }),
    handover: fc.record({ logId: fc.constantFrom("x", "y"), told: fc.uniqueArray(ids, { maxLength: 2 }) }),
  }),
  fc.record({ type: fc.constant("settled" as const), ids: fc.uniqueArray(ids, { minLength: 1 }), outcome: outcomes }),
);

function take(list: Iterable<InboxRecord>): MessageTable {
  const table = new MessageTable();
  for (const record of list) table.take(record);
  return table;
}

test("a table and its snapshot are the same state, whatever was written", () => {
  const property = fc.property(fc.array(records, { maxLength: 30 }), (list) => {
    const table = take(list);
    const copy = take(table.snapshot());
    const all = [...table.all()];
    expect([[...copy.all()], copy.counts]).toEqual([all, table.counts]);
    expect(table.counts).toEqual({
      waiting: all.filter(({ state }) => state === "waiting").length,
      dead: all.filter(({ state }) => state === "dead").length,
    });
    for (const sessionId of ["s", "t"]) {
      const ofSession = all.filter((each) => each.sessionId === sessionId).map(({ id }) => id);
      expect([...table.ofSession(sessionId)].map(({ id }) => id).toSorted()).toEqual(ofSession.toSorted());
    }
  });
  fc.assert(property);
});

test("a message that has an outcome keeps it", () => {
  const dead: InboxRecord = { type: "settled", ids: ["a"], outcome: { kind: "dead", reason: "first" } };
  const table = take([
    { type: "message", message: message("a") },
    dead,
    { ...dead, outcome: { kind: "dead", reason: "second" } },
    { type: "handover", ids: ["a"], handover: { logId: "x", told: [] } },
  ]);
  expect([...table.all()]).toEqual([{ ...message("a"), state: "dead", reason: "first" }]);
});

test("what was given up is told once, when the message that tells it was said", () => {
  const list: InboxRecord[] = [
    { type: "message", message: message("old") },
    { type: "settled", ids: ["old"], outcome: { kind: "dead", reason: "r", isUntold: true } },
    { type: "message", message: message("new") },
    { type: "handover", ids: ["new"], handover: { logId: "new", told: ["old"] } },
  ];
  expect(take(list).get("old")?.isUntold).toBe(true);
  const said = take([...list, { type: "settled", ids: ["new"], outcome: { kind: "injected" } }]);
  expect(said.get("old")).toEqual({ ...message("old"), state: "dead", reason: "r" });
});

test("a thousand messages that were given up are kept, and no more", () => {
  const table = new MessageTable();
  for (let index = 0; index < 1_005; index++) {
    table.take({ type: "message", message: message(String(index)) });
    table.take({ type: "settled", ids: [String(index)], outcome: { kind: "dead", reason: "r" } });
  }
  expect(table.counts).toEqual({ waiting: 0, dead: 1_000 });
  expect([table.get("4"), table.get("5")?.state]).toEqual([undefined, "dead"]);
});
