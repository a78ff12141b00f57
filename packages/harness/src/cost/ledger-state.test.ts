import fc from "fast-check";
import { expect, test } from "vitest";
import { addLines, compactLedger, formatLines, getUse, type LedgerLine, readLedger } from "./ledger-state.ts";

const today = "2026-03-02";
const nowMs = 1_000;
const reserved = (id: string, untilMs = 2_000, day = today): LedgerLine => ({
  type: "reserved",
  id,
  day,
  cost: 1,
  inputCost: 0.25,
  untilMs,
});
const spent = (cost: number, id?: string, day = today): LedgerLine => ({ type: "spent", day, cost, ...(id && { id }) });
const read = (...lines: LedgerLine[]) => readLedger(formatLines(lines));

test.each<[string, LedgerLine[], { spent: number; reserved: number }]>([
  ["nothing is used", [], { spent: 0, reserved: 0 }],
  ["a request in progress counts with its highest cost", [reserved("a")], { spent: 0, reserved: 1 }],
  ["a settled request counts with what it cost", [reserved("a"), spent(0.5, "a")], { spent: 0.5, reserved: 0 }],
  ["a request that was not renewed counts with its input", [reserved("a", 1_000)], { spent: 0.25, reserved: 0 }],
  [
    "a renewed request still counts with its highest cost",
    [reserved("a", 900), { type: "renewed", id: "a", untilMs: 1_500 }],
    { spent: 0, reserved: 1 },
  ],
  [
    "a request that is settled after it expired counts with what it cost",
    [reserved("a", 900), spent(0.75, "a")],
    { spent: 0.75, reserved: 0 },
  ],
  ["a settlement without its reservation counts", [spent(0.5, "gone")], { spent: 0.5, reserved: 0 }],
  [
    "other days do not count",
    [spent(9, undefined, "2026-03-01"), reserved("a", 2_000, "2026-02-28")],
    { spent: 0, reserved: 0 },
  ],
])("%s", (_name, lines, use) => {
  expect(getUse(read(...lines), today, nowMs)).toEqual(use);
});

test("a month has the days of the month, and no other", () => {
  const state = read(spent(1, undefined, "2026-03-01"), spent(2), spent(4, undefined, "2026-02-28"), reserved("a"));
  expect(getUse(state, "2026-03", nowMs)).toEqual({ spent: 3, reserved: 1 });
});

test("a reservation lives until its time, to the millisecond", () => {
  const untilMs = Date.UTC(2026, 2, 2);
  const state = read(reserved("a", 5), { type: "renewed", id: "a", untilMs });
  expect(getUse(state, today, untilMs - 1)).toEqual({ spent: 0, reserved: 1 });
  expect(getUse(state, today, untilMs)).toEqual({ spent: 0.25, reserved: 0 });
});

test("damaged lines count for nothing, and those around them do", () => {
  const text = `${formatLines([spent(1)])}{"type":"spent","day":"2026-0\n{"type":"spent","day":"yesterday","cost":5}\nnull\n${formatLines([spent(2), reserved("a")])}{"type":"reser`;
  expect(getUse(readLedger(text), today, nowMs)).toEqual({ spent: 3, reserved: 1 });
  const hostile = '{"type":"spent","day":"2026-03-02","cost":-9}\n{"type":"spent","day":"2026-03-02","cost":"1e9"}\n';
  expect(getUse(readLedger(hostile), today, nowMs)).toEqual({ spent: 0, reserved: 0 });
});

/** Dollars are quarters, so that sums are exact. */
const quarters = fc.integer({ min: 0, max: 40 }).map((count) => count / 4);
const days = fc.constantFrom("2026-01-31", "2026-02-01", "2026-02-28", "2026-03-01", today);
const ids = fc.constantFrom("a", "b", "c", "d");
const times = fc.integer({ min: 0, max: 2_000 });
const anyLine: fc.Arbitrary<LedgerLine> = fc.oneof(
  fc.record({
    type: fc.constant("reserved" as const),
    id: ids,
    day: days,
    cost: quarters,
    inputCost: quarters,
    untilMs: times,
  }),
  fc.record({ type: fc.constant("renewed" as const), id: ids, untilMs: times }),
  fc.record({ type: fc.constant("spent" as const), id: ids, day: days, cost: quarters }),
  fc.record({ type: fc.constant("spent" as const), day: days, cost: quarters }),
);

test("a compacted ledger has the same sums for this and last month, and does not grow with the number of requests", () => {
  fc.assert(
    fc.property(fc.array(anyLine, { maxLength: 60 }), (lines) => {
      const state = read(...lines);
      const compacted = compactLedger(state, today, nowMs);
      const after = read(...compacted);
      for (const period of [today, "2026-03-01", "2026-03", "2026-02-28", "2026-02"]) {
        expect(getUse(after, period, nowMs)).toEqual(getUse(state, period, nowMs));
      }
      // A line for each day, and for each of the four that may be open.
      expect(compacted.length).toBeLessThanOrEqual(4 + 4);
    }),
    { numRuns: 300 },
  );
});

test("a ledger means the same however it is cut into appends", () => {
  fc.assert(
    fc.property(fc.array(anyLine, { maxLength: 30 }), fc.nat({ max: 30 }), (lines, cut) => {
      expect(addLines(read(...lines.slice(0, cut)), lines.slice(cut))).toEqual(read(...lines));
    }),
    { numRuns: 100 },
  );
});
