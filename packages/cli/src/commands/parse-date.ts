/** Dates that people type. Pure. */

interface DateRange {
  startMs: number;
  /** The end of a day; otherwise the same as the start. */
  endMs: number;
}

const lengthsMs = { h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 } as const;

/** `2026-11-19` is a day of the user's time zone, `36h`, `7d` and `2w` are times ago. Undefined if `text` is no date. */
export function parseDate(text: string, nowMs: number): DateRange | undefined {
  const ago = /^(\d{1,6})([hdw])$/.exec(text);
  if (ago) {
    const timeMs = nowMs - Number(ago[1]) * lengthsMs[ago[2] as keyof typeof lengthsMs];
    return { startMs: timeMs, endMs: timeMs };
  }
  const day = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text)?.slice(1).map(Number);
  if (day) {
    const [year, month, date] = day as [number, number, number];
    const start = new Date(year, month - 1, date);
    // The 31st of February would become a day of March.
    if (start.getMonth() !== month - 1 || start.getDate() !== date) return undefined;
    return { startMs: start.getTime(), endMs: new Date(year, month - 1, date + 1).getTime() };
  }
  const timeMs = /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(timeMs) ? undefined : { startMs: timeMs, endMs: timeMs };
}
