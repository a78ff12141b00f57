import { expect, test } from "vitest";
import { findActive, isActive } from "./active-hours.ts";

test.each([
  ["08:00", "22:00", "2026-07-01T05:59:59Z", false],
  ["08:00", "22:00", "2026-07-01T06:00:00Z", true],
  ["08:00", "22:00", "2026-07-01T20:00:00Z", false],
  ["22:00", "06:00", "2026-07-01T21:00:00Z", true],
  ["22:00", "06:00", "2026-07-01T03:59:00Z", true],
  ["22:00", "06:00", "2026-07-01T04:00:00Z", false],
  ["00:00", "24:00", "2026-07-01T21:59:00Z", true],
  ["soon", "24:00", "2026-07-01T21:59:00Z", true],
])("from %s to %s in Berlin, at %s: %s", (start, end, at, expected) => {
  expect(isActive(Date.parse(at), { start, end, timeZone: "Europe/Berlin" })).toBe(expected);
});

test("the next time is the first in the active hours, and there may be none", () => {
  const hours = { start: "08:00", end: "09:00", timeZone: "UTC" };
  const everyHour = (afterMs: number) => (Math.floor(afterMs / 3_600_000) + 1) * 3_600_000;
  expect(findActive(Date.parse("2026-07-01T08:00:00Z"), hours, everyHour)).toBe(Date.parse("2026-07-02T08:00:00Z"));
  const everyDay = (afterMs: number) => (Math.floor(afterMs / 86_400_000) + 1) * 86_400_000;
  expect(findActive(0, hours, everyDay, 100)).toBeUndefined();
});
