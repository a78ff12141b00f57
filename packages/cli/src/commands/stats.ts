/** `tau stats`: what the sessions of all directories have used. */
import { systemClock } from "@tau/ai";
import { withoutUndefined } from "@tau/ai/internal";
import { parseDay, reportUsage } from "@tau/harness/session";
import type { UsageGroup, UsageReportData, UsageReportParams } from "@tau/protocol";
import { jsonLine } from "../modes/json-line.ts";
import { UsageError } from "../process/errors.ts";
import { clearLine, showsProgress } from "../process/terminal-text.ts";
import { formatLimits, formatStats } from "../process/usage-table.ts";
import type { Io } from "./command.ts";
import { openCommandContext } from "./command-context.ts";
import type { CommandArgs } from "./usage.ts";

export async function showStats(args: CommandArgs, io: Io): Promise<void> {
  // The usage line of the command lists the same.
  const by = args.value("by") as UsageGroup | undefined;
  const report = await readReport(
    withoutUndefined({ by, since: readDay(args, "since"), until: readDay(args, "until") }),
    io,
  );
  if (args.has("json")) return io.out(jsonLine(report));
  if (report.rows.length === 0) io.err(`Nothing was used since ${report.since}.\n`);
  else io.out(formatStats(report, io));
  io.out(formatLimits(report));
}

function readDay(args: CommandArgs, name: "since" | "until"): string | undefined {
  const text = args.value(name);
  if (text === undefined || parseDay(text, systemClock.now()) !== undefined) return text;
  throw new UsageError("arguments", `--${name} takes a day, such as 2026-03-01, or a number of days, such as 7d.`);
}

async function readReport(params: UsageReportParams, io: Io): Promise<UsageReportData> {
  let count = 0;
  const { agentDir, directory, settings } = await openCommandContext(io);
  const { day, month } = settings.get().budgets;
  const report = await reportUsage({
    agentDir,
    limits: { day: day.cost, month: month.cost },
    ...withoutUndefined({ sessionDir: directory }),
    signal: io.signal,
    onRead: () => {
      if (showsProgress(io)) io.err(`${clearLine(io.env)}reading sessions: ${++count}`);
    },
    ...params,
  });
  if (count > 0) io.err(clearLine(io.env));
  return report;
}
