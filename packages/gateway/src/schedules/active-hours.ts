/** Hours of the day in which something may happen. Pure. */
import { parseClockTime } from "./parse-time.ts";

interface ActiveHours {
  /** Such as `08:00`. */
  readonly start: string;
  /** Such as `22:00`; `24:00` is the end of the day. Before `start`: over midnight. */
  readonly end: string;
  readonly timeZone: string;
}

/** Hours that cannot be read leave out nothing. */
export function isActive(atMs: number, { start, end, timeZone }: ActiveHours): boolean {
  const [from, to] = [parseClockTime(start), parseClockTime(end)];
  if (from === undefined || to === undefined || from === to) return true;
  const minute = getMinute(atMs, timeZone);
  return from < to ? minute >= from && minute < to : minute >= from || minute < to;
}

/** The minute of the day on the clocks of a time zone. */
function getMinute(atMs: number, timeZone: string): number {
  const format = (formats[timeZone] ??= new Intl.DateTimeFormat("en", {
    timeZone,
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  }));
  const parts = new Map(format.formatToParts(atMs).map(({ type, value }) => [type, Number(value)]));
  return (parts.get("hour") ?? 0) * 60 + (parts.get("minute") ?? 0);
}

/** To create one takes long. */
const formats: Record<string, Intl.DateTimeFormat> = {};

/** The first of the times of `getNext` in the active hours. Undefined if none comes within `maxTries`. */
export function findActive(
  afterMs: number,
  hours: ActiveHours,
  getNext: (afterMs: number) => number | undefined,
  maxTries = 10_000,
): number | undefined {
  let next = getNext(afterMs);
  for (let tries = 0; next !== undefined && tries < maxTries; tries++) {
    if (isActive(next, hours)) return next;
    next = getNext(next);
  }
  return undefined;
}
