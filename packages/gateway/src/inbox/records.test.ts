import fc from "fast-check";
import { expect, test } from "vitest";
import type { MessageOutcome, StoredMessage } from "./message.ts";
import { type InboxRecord, MessageTable } from "./records.ts";

const message = (id: string, sessionId = "s", requestKey?: string): StoredMessage => ({
  ...(requestKey !== undefined && { requestKey }),
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
    message: fc
      .tuple(ids, fc.constantFrom("s", "t"))
      .map(([id, sessionId]) => message(id, sessionId, { a: "k1", b: "k1", c: "k2", d: undefined }[id])),
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
    const copy = take(table.snapshot(0));
    const all = [...table.all()];
    expect([[...copy.all()], copy.counts]).toEqual([all, table.counts]);
    for (const key of ["k1", "k2"]) expect(copy.findRequest(key)).toEqual(table.findRequest(key));
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

test("the bytes of a sender's messages that wait are those of the messages themselves, whatever was written", () => {
  fc.assert(
    fc.property(fc.array(records, { maxLength: 30 }), (list) => {
      const table = take(list);
      const waiting = [...table.all()].filter(({ state }) => state === "waiting");
      expect(table.getWaitingBytes("")).toBe(waiting.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0));
      expect(table.getWaitingBytes("somebody else")).toBe(0);
    }),
  );
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

test("what became of a request's message is known after the message is gone, for a day", () => {
  const accepted: InboxRecord = { type: "message", message: message("a", "s", "k") };
  const find = (table: MessageTable) => table.findRequest("k");
  const cancelled: MessageOutcome = { kind: "cancelled", reason: "r" };
  expect(find(take([accepted]))).toEqual({ messageId: "a", sessionId: "s", acceptedAt: 0 });
  for (const outcome of [{ kind: "injected" } as const, cancelled]) {
    const table = take([accepted, { type: "settled", ids: ["a"], outcome }]);
    expect(find(table)).toMatchObject({ messageId: "a", outcome });
    expect(find(take(table.snapshot(86_399_999)))).toEqual(find(table));
    expect(find(take(table.snapshot(86_400_000)))).toBeUndefined();
  }
});

test("a message that is replayed is that of its request from then on", () => {
  const table = take([
    { type: "message", message: message("a", "s", "k") },
    { type: "settled", ids: ["a"], outcome: { kind: "dead", reason: "r" } },
    { type: "message", message: message("b", "s", "k"), replaces: "a" },
    { type: "settled", ids: ["b"], outcome: { kind: "injected" } },
  ]);
  expect(table.findRequest("k")).toMatchObject({ messageId: "b", outcome: { kind: "injected" } });
});

test("the oldest requests are forgotten first", () => {
  const table = new MessageTable({ maxRequests: 2 });
  for (const id of ["a", "b", "c"]) table.take({ type: "message", message: message(id, "s", `of ${id}`) });
  expect(["a", "b", "c"].map((id) => table.findRequest(`of ${id}`)?.messageId)).toEqual([undefined, "b", "c"]);
});
