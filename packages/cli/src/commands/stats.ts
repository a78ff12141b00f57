/** `tau stats`: what the sessions of all directories have used. */
import { systemClock } from "@tau/ai";
import { getUsage, type UsageGroup, type UsageReport } from "@tau/harness/session";
import { jsonLine } from "../modes/json-line.ts";
import { UsageError } from "../process/errors.ts";
import { clearLine, showsProgress } from "../process/terminal-text.ts";
import type { Io } from "./command.ts";
import { openCommandContext } from "./command-context.ts";
import { formatStats } from "./stats-table.ts";
import { parseDay, shiftDay } from "./stats-days.ts";
import type { CommandArgs } from "./usage.ts";

/** How many days are shown if nothing is said. */
const defaultDays = 30;

export async function showStats(args: CommandArgs, io: Io): Promise<void> {
  const now = systemClock.now();
  // The usage line of the command lists the same.
  const by = (args.value("by") ?? "day") as UsageGroup;
  const since = readDay(args, "since", now) ?? shiftDay(now, 1 - defaultDays);
  const until = readDay(args, "until", now);
  const report = await readReport(io, { by, since, ...(until !== undefined && { until }) });
  if (args.has("json")) return io.out(jsonLine({ since, ...(until !== undefined && { until }), ...report }));
  if (report.rows.length === 0) return io.err(`Nothing was used since ${since}.\n`);
  io.out(formatStats(report, io));
}

function readDay(args: CommandArgs, name: "since" | "until", now: number): string | undefined {
  const text = args.value(name);
  if (text === undefined) return undefined;
  const day = parseDay(text, now);
  if (day !== undefined) return day;
  throw new UsageError("arguments", `--${name} takes a day, such as 2026-03-01, or a number of days, such as 7d.`);
}

async function readReport(io: Io, filter: { by: UsageGroup; since: string; until?: string }): Promise<UsageReport> {
  let count = 0;
  const { agentDir, directory } = await openCommandContext(io);
  const report = await getUsage({
    agentDir,
    ...(directory !== undefined && { sessionDir: directory }),
    signal: io.signal,
    onRead: () => {
      if (showsProgress(io)) io.err(`${clearLine(io.env)}reading sessions: ${++count}`);
    },
    ...filter,
  });
  if (count > 0) io.err(clearLine(io.env));
  return report;
}
