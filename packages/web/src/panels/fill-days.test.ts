import type { UsageRow } from "@tau/protocol";
import { expect, test } from "vitest";
import { fillDays } from "./fill-days.ts";

const row = (name: string, cost: number) => ({ name, cost }) as UsageRow;

test("days without use are between those with some, also across a month", () => {
  const rows = fillDays({ since: "2026-02-27", rows: [row("2026-02-28", 2), row("2026-03-02", 1)] });
  expect(rows.map(({ name, cost }) => [name, cost])).toEqual([
    ["2026-02-27", 0],
    ["2026-02-28", 2],
    ["2026-03-01", 0],
    ["2026-03-02", 1],
  ]);
});

test("a long period shows its last days", () => {
  const rows = fillDays({ since: "2020-01-01", rows: [row("2020-01-01", 1), row("2026-03-02", 1)] });
  expect([rows.length, rows.at(-1)!.name, rows.at(-1)!.cost]).toEqual([400, "2026-03-02", 1]);
});

test("without any use there is the first day", () => {
  expect(fillDays({ since: "2026-03-01", rows: [] }).map(({ name }) => name)).toEqual(["2026-03-01"]);
});
