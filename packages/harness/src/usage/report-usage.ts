/** Reports what the sessions of a user have used in a period, and what is left of the limits of the day and the month. */
import { systemClock, systemIds } from "@tau/ai";
import { withoutUndefined } from "@tau/ai/internal";
import { HarnessError, type UsageLimit, type UsageReportData, type UsageReportParams } from "@tau/protocol";
import { createRecordFiles } from "@tau/tools/storage";
import type { CostLimits } from "../cost/cost-limits.ts";
import { readCostLimits } from "../cost/read-cost-limits.ts";
import { parseDay, shiftDay } from "./days.ts";
import { getUsage, type GetUsageOptions } from "./get-usage.ts";

export interface ReportUsageOptions extends Omit<GetUsageOptions, "by" | "since" | "until">, UsageReportParams {
  /** The limits in the user's settings. */
  limits: CostLimits;
}

/** How many days are reported by default. */
const defaultDays = 30;

export async function reportUsage({
  limits,
  by = "day",
  since,
  until,
  clock = systemClock,
  ...options
}: ReportUsageOptions): Promise<UsageReportData> {
  const nowMs = clock.now();
  const period = {
    since: since === undefined ? shiftDay(nowMs, 1 - defaultDays) : mustBeDay("since", since, nowMs),
    ...withoutUndefined({ until: until === undefined ? undefined : mustBeDay("until", until, nowMs) }),
  };
  const report = await getUsage({ ...options, clock, by, ...period });
  return { ...period, ...report, limits: await readLimits(limits, nowMs, { ...options, clock }) };
}

async function readLimits(
  limits: CostLimits,
  nowMs: number,
  { agentDir, storage, clock, ids = systemIds }: Pick<GetUsageOptions, "agentDir" | "storage" | "clock" | "ids">,
): Promise<UsageLimit[]> {
  if (limits.day === undefined && limits.month === undefined) return [];
  const records = storage ?? createRecordFiles({ agentDir, ids, ...withoutUndefined({ clock }) });
  return await readCostLimits(records, limits, nowMs);
}

function mustBeDay(name: "since" | "until", text: string, nowMs: number): string {
  const day = parseDay(text, nowMs);
  if (day !== undefined) return day;
  const forms = "a day, such as 2026-03-01, today or yesterday, or how long ago it was, such as 7d or 2w";
  throw new HarnessError("invalid_input", `"${name}" is ${forms}.`);
}
