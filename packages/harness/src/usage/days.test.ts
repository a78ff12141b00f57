import { expect, test } from "vitest";
import { parseDay, shiftDay } from "./days.ts";

const now = new Date(2026, 2, 1, 0, 30).getTime();

test.each([
  ["2026-02-28", "2026-02-28"],
  ["2024-02-29", "2024-02-29"],
  ["today", "2026-03-01"],
  ["yesterday", "2026-02-28"],
  ["7d", "2026-02-22"],
  ["2w", "2026-02-15"],
  ["0d", "2026-03-01"],
  ["2026-02-29", undefined],
  ["2026-2-1", undefined],
  ["d", undefined],
  ["-3d", undefined],
  ["", undefined],
])("%s is %s", (text, day) => {
  expect(parseDay(text, now)).toBe(day);
});

test("days are those of the calendar, whatever the clock does in between", () => {
  const start = new Date(2026, 0, 1, 23, 59).getTime();
  const days = Array.from({ length: 400 }, (_unused, index) => shiftDay(start, index));
  expect(new Set(days).size).toBe(400);
  expect([days[0], days[31], days[59], days[365]]).toEqual(["2026-01-01", "2026-02-01", "2026-03-01", "2027-01-01"]);
});
