/** The tables of what was used: their columns, and how amounts are written. The terminal and the page show the same. Pure. */
import type { UsageAmounts, UsageGroup, UsageLimit, UsageReport } from "../usage-report.ts";
import { formatTokens } from "./format.ts";

export interface UsageFigure {
  readonly title: string;
  readonly format: (amounts: UsageAmounts) => string;
}

const figures = {
  cost: { title: "Cost", format: ({ cost }) => formatDollars(cost) },
  tokens: { title: "Tokens", format: (amounts) => formatTokens(getTokens(amounts)) },
  cached: { title: "Cached", format: formatCached },
  requests: { title: "Requests", format: ({ requests }) => String(requests) },
  calls: { title: "Calls", format: ({ calls }) => String(calls) },
  errors: { title: "Errors", format: ({ errors }) => String(errors) },
  denied: { title: "Denied", format: ({ denied }) => String(denied) },
  time: { title: "Time", format: ({ timeMs }) => formatTime(timeMs) },
} satisfies Record<string, UsageFigure>;

const ofModels: readonly UsageFigure[] = [figures.cost, figures.tokens, figures.cached, figures.requests, figures.time];
const ofTools: readonly UsageFigure[] = [figures.calls, figures.errors, figures.denied, figures.time];
const ofAll: readonly UsageFigure[] = [
  figures.cost,
  figures.tokens,
  figures.cached,
  figures.requests,
  figures.calls,
  figures.denied,
  figures.time,
];

interface UsageTable {
  readonly title: string;
  /** Shown for the row without a name. */
  readonly unnamed: string;
  readonly figures: readonly UsageFigure[];
  /** Whether the rows add up to the sum. Models have no calls, and tools no requests. */
  readonly addsUp: boolean;
}

/** The most important figures come first: the last are left out where there is no room. */
export const usageTables: Readonly<Record<UsageGroup, UsageTable>> = {
  day: { title: "Day", unnamed: "", figures: ofAll, addsUp: true },
  project: { title: "Project", unnamed: "(unknown)", figures: ofAll, addsUp: true },
  agent: { title: "Agent", unnamed: "(none)", figures: ofAll, addsUp: true },
  model: { title: "Model", unnamed: "(unknown)", figures: ofModels, addsUp: false },
  tool: { title: "Tool", unnamed: "(unknown)", figures: ofTools, addsUp: false },
};

/** The length of each row's bar, from 0 to 1: its part of the largest cost, or else of the tokens, or else of the calls. */
export function getUsageBars({ by, rows }: Pick<UsageReport, "by" | "rows">): number[] {
  const measures = by === "tool" ? [getCalls] : [getCost, getTokens, getCalls];
  const measure = measures.find((get) => rows.some((row) => get(row) > 0)) ?? getCalls;
  const largest = rows.reduce((max, row) => Math.max(max, measure(row)), 0);
  return rows.map((row) => (largest > 0 ? measure(row) / largest : 0));
}

const getCost = ({ cost }: UsageAmounts) => cost;
const getCalls = ({ calls }: UsageAmounts) => calls;
const getTokens = ({ input, output, cacheRead, cacheWrite }: UsageAmounts) => input + output + cacheRead + cacheWrite;

function formatCached({ input, cacheRead, cacheWrite }: UsageAmounts): string {
  const prompt = input + cacheRead + cacheWrite;
  return prompt > 0 ? `${Math.round((cacheRead / prompt) * 100)}%` : "";
}

/** `45 s`, `12 min`, `3 h 5 min`. */
function formatTime(timeMs: number): string {
  const minutes = Math.round(timeMs / 60_000);
  if (minutes === 0) return `${Math.round(timeMs / 1_000)} s`;
  if (minutes < 60) return `${minutes} min`;
  const rest = minutes % 60;
  return `${Math.floor(minutes / 60)} h${rest === 0 ? "" : ` ${rest} min`}`;
}

const periods = { day: "today", month: "this month" } as const;

export function describeUsageLimit({ period, limit, spent, reserved, left }: UsageLimit): string {
  const waiting = reserved > 0 ? ` (${formatDollars(reserved)} are reserved by requests in progress)` : "";
  const state = `${formatDollars(spent)} of ${formatDollars(limit)} are spent, ${formatDollars(left)} are left`;
  return `Limit of ${periods[period]}: ${state}${waiting}`;
}

/** The part of a limit from which it is shown as a warning. Requests in progress are part of what is used. */
const warnedPart = 0.8;

export const isNearLimit = ({ limit, spent, reserved }: UsageLimit): boolean =>
  spent + reserved > 0 && spent + reserved >= limit * warnedPart;

/** Such as `$3.10/$5.00`, for a line with little room. */
export const formatUsageLimit = ({ limit, spent, reserved }: UsageLimit): string =>
  `${formatDollars(spent + reserved)}/${formatDollars(limit)}`;

const formatDollars = (amount: number): string => `$${amount.toFixed(2)}`;
