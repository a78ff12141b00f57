/** Decides whether a request fits into the limits of the day and of the month. Pure. */
import type { Demand } from "../budget/demand.ts";
import { limitOutput } from "../budget/demand.ts";
import { getMonth, getUse, type LedgerState } from "./ledger-state.ts";

export type CostPeriod = "day" | "month";

/** US dollars; undefined for no limit. */
export type CostLimits = Readonly<Record<CostPeriod, number | undefined>>;

interface Now {
  nowMs: number;
  today: string;
}

export type CostDecision =
  /** `maxTokens` is the longest answer that is paid for; Infinity if nothing limits it. */
  { kind: "granted"; cost: number; maxTokens: number } | { kind: "spent"; period: CostPeriod; message: string };

/** Shares what is left as a budget does: an answer gets at most half of it. */
export function decideCost(state: LedgerState, limits: CostLimits, demand: Demand, now: Now): CostDecision {
  let maxTokens = demand.maxOutput;
  for (const { period, limit, spent, reserved } of listUses(state, limits, now)) {
    const output = limitOutput({ tokens: Number.POSITIVE_INFINITY, cost: limit - spent - reserved }, demand);
    if (output.kind === "spent") {
      const need = demand.inputCost + demand.minOutput * demand.outputPrice;
      return { kind: "spent", period, message: describeSpent(period, { limit, spent, reserved, need }) };
    }
    maxTokens = Math.min(maxTokens, output.tokens);
  }
  // An answer without a limit costs nothing, since limits of cost do not limit free ones.
  const outputCost = demand.outputPrice > 0 ? maxTokens * demand.outputPrice : 0;
  return { kind: "granted", cost: demand.inputCost + outputCost, maxTokens };
}

/** The part of a limit from which the user is warned. */
const warnedPart = 0.8;

/** The periods of which so much is spent that the user should know, each with a sentence. */
export function listWarnings(state: LedgerState, limits: CostLimits, now: Now) {
  return listUses(state, limits, now)
    .filter(({ limit, spent }) => spent > 0 && spent >= limit * warnedPart)
    .map(({ period, limit, spent }) => ({ period, message: describeWarning(period, limit, spent) }));
}

/** The uses of the periods that have a limit. */
export function listUses(state: LedgerState, limits: CostLimits, { nowMs, today }: Now) {
  const prefixes = { day: today, month: getMonth(today) };
  return (["day", "month"] as const).flatMap((period) => {
    const limit = limits[period];
    return limit === undefined ? [] : [{ period, limit, ...getUse(state, prefixes[period], nowMs) }];
  });
}

const names: Readonly<Record<CostPeriod, { limit: string; end: string }>> = {
  day: { limit: "The limit of the cost of today", end: "until tomorrow" },
  month: { limit: "The limit of the cost of this month", end: "until next month" },
};

interface Spent {
  limit: number;
  spent: number;
  reserved: number;
  /** The least that the request may cost. */
  need: number;
}

function describeSpent(period: CostPeriod, { limit, spent, reserved, need }: Spent): string {
  const open = reserved > 0 ? `, and ${formatDollars(reserved)} are reserved by requests in progress` : "";
  const state = `${formatDollars(spent)} of ${formatDollars(limit)} are spent by all sessions${open}`;
  const why =
    spent >= limit ? "" : ` That is not enough for the next request, which costs at least ${formatDollars(need)}.`;
  return `${names[period].limit} is reached: ${state}.${why} Raise budgets.${period}.cost in your settings, use a model without cost, or wait ${names[period].end}.`;
}

function describeWarning(period: CostPeriod, limit: number, spent: number): string {
  const percent = limit > 0 ? `${Math.floor((spent / limit) * 100)} % of it` : "All of it";
  return `${names[period].limit} is nearly reached: ${percent} is spent (${formatDollars(spent)} of ${formatDollars(limit)}).`;
}

const formatDollars = (amount: number): string => `$${amount.toFixed(amount < 1 ? 4 : 2)}`;
