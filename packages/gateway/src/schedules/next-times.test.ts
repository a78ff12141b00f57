import { describe, expect, test } from "vitest";
import { NextTimes } from "./next-times.ts";
import type { WrittenTime } from "./parse-time.ts";

const nowMs = Date.parse("2026-01-15T12:00:00Z");

async function listTimes(written: WrittenTime, { timeZone = "UTC", from = "2026-01-15T12:00:00Z", count = 3 } = {}) {
  const times = new NextTimes();
  const time = await times.resolve(written, { timeZone, nowMs: Date.parse(from) });
  const found: string[] = [];
  let next = times.getNext(time, Date.parse(from));
  while (next !== undefined && found.length < count) {
    found.push(new Date(next).toISOString().replace(":00.000Z", "Z"));
    next = times.getNext(time, next);
  }
  return found;
}

describe("summer time", () => {
  const rows: [string, string, timeZone: string, from: string, string[]][] = [
    // The clocks go from 02:00 to 03:00: a time in between runs when they have jumped.
    [
      "a time that is skipped",
      "30 2 * * *",
      "Europe/Berlin",
      "2026-03-28T00:00:00Z",
      ["2026-03-28T01:30Z", "2026-03-29T01:00Z", "2026-03-30T00:30Z"],
    ],
    [
      "a time that is skipped",
      "30 2 * * *",
      "America/New_York",
      "2026-03-07T00:00:00Z",
      ["2026-03-07T07:30Z", "2026-03-08T07:00Z", "2026-03-09T06:30Z"],
    ],
    [
      "a time that comes twice",
      "30 2 * * *",
      "Europe/Berlin",
      "2026-10-24T00:00:00Z",
      ["2026-10-24T00:30Z", "2026-10-25T00:30Z", "2026-10-26T01:30Z"],
    ],
    [
      "a time that comes twice",
      "30 1 * * *",
      "America/New_York",
      "2026-10-31T00:00:00Z",
      ["2026-10-31T05:30Z", "2026-11-01T05:30Z", "2026-11-02T06:30Z"],
    ],
    [
      "the same hour before and after",
      "0 8 * * *",
      "Europe/Berlin",
      "2026-03-28T00:00:00Z",
      ["2026-03-28T07:00Z", "2026-03-29T06:00Z", "2026-03-30T06:00Z"],
    ],
    [
      "the same hour before and after",
      "0 8 * * *",
      "America/New_York",
      "2026-10-31T00:00:00Z",
      ["2026-10-31T12:00Z", "2026-11-01T13:00Z", "2026-11-02T13:00Z"],
    ],
    [
      "each half hour, without a gap",
      "*/30 * * * *",
      "Europe/Berlin",
      "2026-10-25T00:00:00Z",
      ["2026-10-25T00:30Z", "2026-10-25T01:00Z", "2026-10-25T01:30Z"],
    ],
    [
      "each half hour, without a gap",
      "*/30 * * * *",
      "America/New_York",
      "2026-03-08T06:30:00Z",
      ["2026-03-08T07:00Z", "2026-03-08T07:30Z", "2026-03-08T08:00Z"],
    ],
  ];
  test.each(rows)("%s: %s in %s", async (_name, cron, timeZone, from, expected) => {
    expect(await listTimes({ cron }, { timeZone, from })).toEqual(expected);
  });

  test("a date is that of its time zone", async () => {
    const at = async (text: string, timeZone: string) => (await listTimes({ at: text }, { timeZone }))[0];
    expect(await at("2026-07-01T08:00", "Europe/Berlin")).toBe("2026-07-01T06:00Z");
    expect(await at("2026-12-01T08:00", "Europe/Berlin")).toBe("2026-12-01T07:00Z");
    expect(await at("2026-07-01T08:00", "America/New_York")).toBe("2026-07-01T12:00Z");
    expect(await at("2026-07-01T08:00+09:00", "America/New_York")).toBe("2026-06-30T23:00Z");
  });
});

test.each([
  [{ cron: "0 7 * * 1-5" }, ["2026-01-16T07:00Z", "2026-01-19T07:00Z", "2026-01-20T07:00Z"]],
  [{ cron: "*/20 0 13 * * *" }, ["2026-01-15T13:00Z", "2026-01-15T13:00:20.000Z", "2026-01-15T13:00:40.000Z"]],
  [{ cron: "@daily" }, ["2026-01-16T00:00Z", "2026-01-17T00:00Z", "2026-01-18T00:00Z"]],
  [{ cron: "0 0 29 2 *" }, ["2028-02-29T00:00Z", "2032-02-29T00:00Z", "2036-02-29T00:00Z"]],
  [{ every: "1d12h" }, ["2026-01-17T00:00Z", "2026-01-18T12:00Z", "2026-01-20T00:00Z"]],
  [{ at: "20m" }, ["2026-01-15T12:20Z"]],
] as [WrittenTime, string[]][])("%j is due at", async (written, expected) => {
  expect(await listTimes(written)).toEqual(expected);
});

test.each([
  [{ cron: "0 0 30 2 *" }, "never due"],
  [{ cron: "0 0 31 4,6,9,11 *" }, "never due"],
  [{ cron: "61 * * * *" }, "minute"],
  [{ cron: "* * * *" }, "five fields"],
  [{ cron: "0 0 0 1 1 * 2030" }, "five fields"],
  [{ cron: "2026-12-24T18:00:00" }, "five fields"],
  [{ at: "2026-01-15T11:59:59Z" }, "is over"],
  [{ at: "2026-02-30T10:00" }, "no date"],
  [{ at: "2026-13-01T10:00" }, "no date"],
  [{ at: "tomorrow" }, "is no time"],
  [{ every: "0m" }, "no duration"],
  [{ every: "soon" }, "no duration"],
  [{ every: "999999999w" }, "no duration"],
  [{}, "one of"],
  [{ at: "1h", every: "1h" }, "one of"],
] as [WrittenTime, string][])("%j is refused", async (written, message) => {
  const resolved = new NextTimes().resolve(written, { timeZone: "Europe/Berlin", nowMs });
  await expect(resolved).rejects.toMatchObject({
    code: "invalid_parameters",
    message: expect.stringContaining(message),
  });
});

test("an unknown time zone is refused", async () => {
  const resolved = new NextTimes().resolve({ every: "1h" }, { timeZone: "Mars/Olympus", nowMs });
  await expect(resolved).rejects.toMatchObject({ message: expect.stringContaining("no time zone") });
});

test("a pattern that was stored is prepared before its next time is asked for", async () => {
  const time = { kind: "cron", expression: "0 7 * * *", timeZone: "UTC" } as const;
  const times = new NextTimes();
  expect(times.getNext(time, nowMs)).toBeUndefined();
  await times.prepare(time);
  expect(times.getNext(time, nowMs)).toBe(Date.parse("2026-01-16T07:00:00Z"));
});
