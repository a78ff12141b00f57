import { expect, test } from "vitest";
import { toDemand } from "../budget/demand.ts";
import { type CostLimits, decideCost, listWarnings } from "./cost-limits.ts";
import { formatLines, type LedgerLine, readLedger } from "./ledger-state.ts";

const now = { nowMs: 1_000, today: "2026-03-02" };
/** A token of input costs $1, one of output $10. */
const price = { input: 1e6, output: 1e7, cacheRead: 0, cacheWrite: 0 };
const demand = toDemand({ inputTokens: 10, maxOutputTokens: 100, price });
const lines = (...list: LedgerLine[]) => readLedger(formatLines(list));
const day = (cost: number, date = now.today): LedgerLine => ({ type: "spent", day: date, cost });
const open = (cost: number): LedgerLine => ({
  type: "reserved",
  id: "x",
  day: now.today,
  cost,
  inputCost: 1,
  untilMs: 2_000,
});
const limits = (byDay: number | undefined, month?: number): CostLimits => ({ day: byDay, month });

test.each<[string, LedgerLine[], CostLimits, unknown]>([
  ["a request that fits", [], limits(5_000), { kind: "granted", cost: 1_010, maxTokens: 100 }],
  ["exactly what is left", [day(3_990)], limits(5_000), { kind: "granted", cost: 1_010, maxTokens: 100 }],
  ["less than it may need", [day(3_991)], limits(5_000), { kind: "spent", period: "day" }],
  ["what others have reserved", [open(4_500)], limits(5_000), { kind: "spent", period: "day" }],
  [
    "the month, with a day that has room",
    [day(4_500, "2026-03-01")],
    limits(5_000, 5_000),
    { kind: "spent", period: "month" },
  ],
  ["another month", [day(4_500, "2026-02-28")], limits(5_000, 5_000), { kind: "granted" }],
  ["a limit of 0", [], limits(0), { kind: "spent", period: "day" }],
])("%s", (_name, list, allowed, expected) => {
  expect(decideCost(lines(...list), allowed, demand, now)).toMatchObject(expected as object);
});

test("an answer gets at most half of what is left, so that another session can continue", () => {
  const long = toDemand({ inputTokens: 0, maxOutputTokens: 0, price });
  expect(decideCost(lines(), limits(100_000, 60_000), long, now)).toMatchObject({ cost: 30_000, maxTokens: 3_000 });
});

test("what is refused is said with the amounts, and with what to do", () => {
  expect(decideCost(lines(day(3_000), open(1_500)), limits(5_000), demand, now)).toMatchObject({
    message:
      "The limit of the cost of today is reached: $3000.00 of $5000.00 are spent by all sessions, and $1500.00 are reserved by requests in progress. That is not enough for the next request, which costs at least $1010.00. Raise budgets.day.cost in your settings, use a model without cost, or wait until tomorrow.",
  });
  expect(decideCost(lines(day(0.51)), limits(undefined, 0.5), demand, now)).toMatchObject({
    message:
      "The limit of the cost of this month is reached: $0.5100 of $0.5000 are spent by all sessions. Raise budgets.month.cost in your settings, use a model without cost, or wait until next month.",
  });
});

test.each<[number, number, string[]]>([
  [79, 100, []],
  [80, 100, ["day"]],
  [100, 100, ["day"]],
  [0, 0, []],
])("with %s of %s spent, the user is warned of %s", (cost, limit, periods) => {
  expect(listWarnings(lines(day(cost), open(20)), limits(limit, 1_000), now).map(({ period }) => period)).toEqual(
    periods,
  );
});

test("a warning has the part, and the amounts", () => {
  expect(listWarnings(lines(day(4.1)), limits(5), now)).toEqual([
    {
      period: "day",
      message: "The limit of the cost of today is nearly reached: 82 % of it is spent ($4.10 of $5.00).",
    },
  ]);
});
