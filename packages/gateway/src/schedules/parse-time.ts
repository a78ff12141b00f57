/** Reads when a schedule is due, as people write it. Pure. */

/** Times as people write them: one of the three. */
export interface WrittenTime {
  /** A date, such as `2026-12-24T18:00` or `2026-12-24T18:00:00Z`, or how long from now, such as `20m`. */
  readonly at?: string | undefined;
  /** A duration, such as `30m`, `2h` or `1d12h`. */
  readonly every?: string | undefined;
  /** Five or six fields, or a name such as `@daily`. */
  readonly cron?: string | undefined;
}

type ParsedTime =
  | { readonly kind: "in"; readonly afterMs: number }
  | { readonly kind: "date"; readonly text: string }
  | { readonly kind: "every"; readonly everyMs: number }
  | { readonly kind: "cron"; readonly expression: string }
  | { readonly kind: "wrong"; readonly message: string };

const unitsMs: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
};

const maxDurationMs = 5 * 366 * 86_400_000;
const minEveryMs = 1_000;

/** Parses `90s`, `30m`, `1h30m`, `2d` or `1w`. Undefined for anything else, for nothing, and for more than five years. */
export function parseDuration(text: string): number | undefined {
  if (!/^(?:\d{1,9}[smhdw])+$/.test(text)) return undefined;
  let totalMs = 0;
  for (const [, count, unit] of text.matchAll(/(\d+)([smhdw])/g)) totalMs += Number(count) * unitsMs[unit!]!;
  return totalMs > 0 && totalMs <= maxDurationMs ? totalMs : undefined;
}

export function parseTime({ at, every, cron }: WrittenTime): ParsedTime {
  const count = [at, every, cron].filter((value) => value !== undefined).length;
  if (count !== 1) return wrong("A schedule has one of at, every and cron.");
  if (every !== undefined) return parseEvery(every.trim());
  if (cron !== undefined) return parseCron(cron.trim().replaceAll(/\s+/g, " "));
  const text = at!.trim();
  const afterMs = parseDuration(text);
  if (afterMs !== undefined) return { kind: "in", afterMs };
  if (/^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d)?$/.test(text))
    return { kind: "date", text };
  return wrong(`${quote(text)} is no time. Write a date such as 2026-12-24T18:00, or how long from now, such as 20m.`);
}

function parseEvery(text: string): ParsedTime {
  const everyMs = parseDuration(text);
  if (everyMs === undefined) return wrong(`${quote(text)} is no duration. Write one such as 30m, 2h or 1d.`);
  if (everyMs < minEveryMs) return wrong("A schedule is due every second at most.");
  return { kind: "every", everyMs };
}

/** Names that stand for five fields. */
const cronNames = ["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"];

/** The fields themselves are read by `croner`; what it would read as a date is none. */
function parseCron(expression: string): ParsedTime {
  const count = expression.split(" ").length;
  if (cronNames.includes(expression) || ((count === 5 || count === 6) && expression.length <= 200)) {
    return { kind: "cron", expression };
  }
  return wrong(
    `${quote(expression)} has to have five fields, such as 0 7 * * 1-5, or six, of which the first is seconds.`,
  );
}

const wrong = (message: string): ParsedTime => ({ kind: "wrong", message });

const quote = (text: string): string => JSON.stringify(text.slice(0, 80));

const clockTime = /^(?:([01]\d|2[0-3]):([0-5]\d)|24:00)$/;

/** Parses `08:00` up to `24:00` into minutes. Undefined for anything else. */
export function parseClockTime(text: string): number | undefined {
  const match = clockTime.exec(text);
  if (!match) return undefined;
  return match[1] === undefined ? 24 * 60 : Number(match[1]) * 60 + Number(match[2]);
}
