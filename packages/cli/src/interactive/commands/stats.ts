/** `/stats`: what the sessions of all directories have used. */
import { HarnessError, type UsageGroup, usageGroups, type UsageReportParams } from "@tau/protocol";
import type { SelectItem } from "@tau/tui";
import type { Interface } from "../interface.ts";

export async function showStats(ui: Interface, argument: string): Promise<void> {
  const report = await ui.client.execute({ type: "get_usage_report", ...parseStatsArgument(argument) });
  const { formatLimits, formatStats } = await import("../../process/usage-table.ts");
  // A remark has a blank at each side.
  const terminal = { terminal: { input: true, out: true, err: true }, columns: ui.columns - 2, colour: false, env: {} };
  const table = report.rows.length === 0 ? `Nothing was used since ${report.since}.\n` : formatStats(report, terminal);
  ui.say((table + formatLimits(report)).trimEnd());
}

/**
 * Reads what is typed after `/stats`, in any order: what the rows are, then the first and the last day. The host checks the days.
 * Pure.
 */
export function parseStatsArgument(argument: string): UsageReportParams {
  const words = argument.split(/\s+/).filter((word) => word !== "");
  const by = words.find(isGroup);
  const [since, until, ...others] = words.filter((word) => word !== by);
  if (others.length > 0)
    throw new HarnessError("invalid_input", "It is /stats [ROWS] [FIRST DAY] [LAST DAY], such as /stats model 7d.");
  return { ...(by && { by }), ...(since !== undefined && { since }), ...(until !== undefined && { until }) };
}

const isGroup = (word: string): word is UsageGroup => (usageGroups as readonly string[]).includes(word);

export const listStatsArguments = (): SelectItem[] => [
  ...["today", "7d", "30d"].map((value) => ({ value, label: value, description: "The period" })),
  ...usageGroups.map((value) => ({ value, label: value, description: `A row for each ${value}` })),
];
