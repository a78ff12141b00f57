import { expect, test } from "vitest";
import { parseDate } from "./parse-date.ts";

const now = Date.parse("2026-11-19T12:00:00Z");

test.each([
  ["36h", now - 36 * 3_600_000],
  ["7d", now - 7 * 86_400_000],
  ["2w", now - 14 * 86_400_000],
  ["2026-11-18T06:30:00Z", Date.parse("2026-11-18T06:30:00Z")],
])("%s is one moment", (text, timeMs) => {
  expect(parseDate(text, now)).toEqual({ startMs: timeMs, endMs: timeMs });
});

test("a day begins and ends at midnight of the user's time zone", () => {
  expect(parseDate("2026-10-25", now)).toEqual({
    startMs: new Date(2026, 9, 25).getTime(),
    endMs: new Date(2026, 9, 26).getTime(),
  });
});

test.each(["", "yesterday", "7", "7m", "2026-02-30", "2026-13-01", "2026-11-18Tnoon", "-3d"])(
  "%j is no date",
  (text) => {
    expect(parseDate(text, now)).toBeUndefined();
  },
);
