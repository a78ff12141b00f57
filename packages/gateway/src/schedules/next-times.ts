/**
 * Computes when schedules are due next. `croner` is loaded for the first cron expression, and knows time zones and summer time:
 * a time that a clock skips runs when the clock has jumped, and one that comes twice runs at the first.
 */
import type { Cron } from "croner";
import { getErrorMessage } from "@tau/ai/internal";
import { GatewayError } from "../errors.ts";
import { parseTime, type WrittenTime } from "./parse-time.ts";
import type { ScheduleTime } from "./schedule.ts";

type CronTime = Extract<ScheduleTime, { kind: "cron" }>;

export class NextTimes {
  /** By expression and zone. To create one takes milliseconds. */
  readonly #patterns = new Map<string, Cron>();

  /** Prepares a time for `getNext`. */
  async prepare(time: ScheduleTime): Promise<void> {
    if (time.kind === "cron" && !this.#patterns.has(toKey(time))) {
      this.#patterns.set(toKey(time), await createPattern(time.expression, time.timeZone));
    }
  }

  /** The first due time after a moment, undefined if there is none. The time must be prepared. */
  getNext(time: ScheduleTime, afterMs: number): number | undefined {
    switch (time.kind) {
      case "at":
        return time.atMs > afterMs ? time.atMs : undefined;
      case "every": {
        const { everyMs, anchorMs } = time;
        return anchorMs + Math.max(1, Math.floor((afterMs - anchorMs) / everyMs) + 1) * everyMs;
      }
      case "cron":
        // `croner` counts whole seconds, and gives what comes after.
        return this.#patterns
          .get(toKey(time))
          ?.nextRun(new Date(Math.floor(afterMs / 1_000) * 1_000))
          ?.getTime();
    }
  }

  /** Throws `invalid_parameters` for a time that is not valid, that is over, or that never comes. */
  async resolve(written: WrittenTime, { timeZone, nowMs }: { timeZone: string; nowMs: number }): Promise<ScheduleTime> {
    if (!isTimeZone(timeZone))
      throw invalid(`There is no time zone ${JSON.stringify(timeZone)}. Write one such as Europe/Berlin.`);
    const parsed = parseTime(written);
    switch (parsed.kind) {
      case "wrong":
        throw invalid(parsed.message);
      case "in":
        return { kind: "at", atMs: nowMs + parsed.afterMs };
      case "every":
        return { kind: "every", everyMs: parsed.everyMs, anchorMs: nowMs };
      case "date": {
        const atMs = await resolveDate(parsed.text, timeZone);
        if (atMs > nowMs) return { kind: "at", atMs };
        throw invalid(`${new Date(atMs).toISOString()} is over.`);
      }
      case "cron": {
        const time: CronTime = { kind: "cron", expression: parsed.expression, timeZone };
        const pattern = await createPattern(time.expression, timeZone);
        if (!pattern.nextRun(new Date(nowMs)))
          throw invalid(`${JSON.stringify(time.expression)} is never due: there is no such date.`);
        this.#patterns.set(toKey(time), pattern);
        return time;
      }
    }
  }
}

/** Whether the system knows a time zone. */
function isTimeZone(timeZone: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone }).format();
    return true;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return false;
  }
}

export const getSystemTimeZone = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone;

const toKey = ({ expression, timeZone }: CronTime): string => `${timeZone} ${expression}`;

async function createPattern(expression: string, timezone: string): Promise<Cron> {
  const { Cron } = await import("croner");
  try {
    return new Cron(expression, { timezone, paused: true, mode: "5-or-6-parts" });
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof RangeError)) throw error;
    throw invalid(`${JSON.stringify(expression)} is not valid: ${getErrorMessage(error).replace(/^Cron\w+: /, "")}`);
  }
}

/** A date without an offset is one of the time zone. */
async function resolveDate(text: string, timezone: string): Promise<number> {
  const isWhole = /(?:Z|[+-]\d\d:\d\d)$/.test(text);
  const atMs = isWhole
    ? Date.parse(text)
    : await resolveLocalDate(/T\d\d:\d\d$/.test(text) ? `${text}:00` : text, timezone);
  if (Number.isNaN(atMs)) throw invalid(`There is no date ${JSON.stringify(text)}.`);
  return atMs;
}

async function resolveLocalDate(text: string, timezone: string): Promise<number> {
  const { Cron } = await import("croner");
  // 30 February would be taken for 2 March.
  if (!isRealDate(text)) return Number.NaN;
  return new Cron(text.replace(/\.\d+$/, ""), { timezone, paused: true }).getOnce()?.getTime() ?? Number.NaN;
}

function isRealDate(text: string): boolean {
  const atMs = Date.parse(`${text}Z`);
  return !Number.isNaN(atMs) && new Date(atMs).toISOString().startsWith(text.slice(0, 10));
}

const invalid = (message: string): GatewayError => new GatewayError("invalid_parameters", message);
