/** Days in local time, such as `2026-03-01`. Pure. */

/** The day that is `days` after that of `now`. */
export function shiftDay(now: number, days: number): string {
  const date = new Date(now);
  // At noon no change of the clock reaches another day.
  const shifted = new Date(date.getFullYear(), date.getMonth(), date.getDate() + days, 12);
  const digits = (value: number, length = 2) => String(value).padStart(length, "0");
  return `${digits(shifted.getFullYear(), 4)}-${digits(shifted.getMonth() + 1)}-${digits(shifted.getDate())}`;
}

/** Reads a day, `today`, `yesterday`, or how long ago it was: `7d`, `2w`. Undefined for anything else. */
export function parseDay(text: string, now: number): string | undefined {
  if (text === "today") return shiftDay(now, 0);
  if (text === "yesterday") return shiftDay(now, -1);
  const [, count, unit] = /^(\d{1,4})(d|w)$/.exec(text) ?? [];
  if (count !== undefined) return shiftDay(now, -Number(count) * (unit === "w" ? 7 : 1));
  const [, year, month, day] = (/^(\d{4})-(\d\d)-(\d\d)$/.exec(text) ?? []).map(Number);
  if (year === undefined) return undefined;
  const date = new Date(Date.UTC(year, month! - 1, day));
  return date.toISOString().startsWith(text) ? text : undefined;
}
