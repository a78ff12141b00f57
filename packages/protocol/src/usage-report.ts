/** A report of what the sessions of a user have used in a period: `tau stats`, `/stats`, `get_usage_report` and `usage.report`. */

export const usageGroups = ["day", "project", "model", "tool", "agent"] as const;

export type UsageGroup = (typeof usageGroups)[number];

export interface UsageAmounts {
  /** Answers of models, failed ones included. */
  readonly requests: number;
  /** Tokens that were neither read from nor written to a cache. */
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** US dollars. */
  readonly cost: number;
  /** How long answers and calls took. A call inside another one takes none. */
  readonly timeMs: number;
  /** Calls of tools, denied and failed ones included. */
  readonly calls: number;
  readonly errors: number;
  readonly denied: number;
}

export const noUsage: UsageAmounts = {
  requests: 0,
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  cost: 0,
  timeMs: 0,
  calls: 0,
  errors: 0,
  denied: 0,
};

export interface UsageRow extends UsageAmounts {
  /** A day, a directory, `provider/id`, a tool or an agent; empty if it has no name. */
  readonly name: string;
}

export interface UsageReport {
  readonly by: UsageGroup;
  /** Days in order, everything else by cost, then by tokens and calls. */
  readonly rows: readonly UsageRow[];
  readonly total: UsageAmounts;
}

/** A limit of all sessions together, and what is left of it. US dollars. */
export interface UsageLimit {
  readonly period: "day" | "month";
  readonly limit: number;
  readonly spent: number;
  /** The highest cost of the requests in progress. */
  readonly reserved: number;
  /** At least 0. */
  readonly left: number;
}

export interface UsageReportParams {
  /** Default `day`. */
  by?: UsageGroup;
  /**
   * The first and the last day that count, in the time of the host: `2026-03-01`, `today`, `yesterday`, or how long ago it was, such
   * as `7d` or `2w`. Default: the last 30 days.
   */
  since?: string;
  until?: string;
}

export interface UsageReportData extends UsageReport {
  /** Such as `2026-03-01`. */
  readonly since: string;
  readonly until?: string;
  /** The limits that are set, for today and for this month, whatever the period of the report. */
  readonly limits: readonly UsageLimit[];
}
