import type { Usage } from "./message.ts";
import type { Model } from "./model.ts";

export const emptyUsage = (): Usage => ({
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
});

/** The counts that a provider reported, by our names. Missing and invalid fields leave the previous value unchanged. */
export type UsageReport = Partial<
  Record<
    "input" | "output" | "cacheRead" | "cacheWrite" | "cacheWrite1h" | "reasoning" | "totalTokens" | "cost",
    unknown
  >
> & {
  /** The factor of the prices of the model. Default 1. */
  priceFactor?: number;
};

/** Parses an untrusted token count into a safe one: finite, whole, not negative, and small enough to add up. */
export function parseTokenCount(value: unknown): number | undefined {
  if (typeof value !== "number" || !Number.isFinite(value) || value < 0) return undefined;
  return Math.min(Math.round(value), 1e12);
}

/** Applies a report and recomputes the total and the cost. Changes `usage` in place. */
export function applyUsage(usage: Usage, report: UsageReport, model: Model): void {
  for (const key of ["input", "output", "cacheRead", "cacheWrite", "cacheWrite1h", "reasoning"] as const) {
    const count = parseTokenCount(report[key]);
    if (count !== undefined) usage[key] = count;
  }
  usage.totalTokens =
    parseTokenCount(report.totalTokens) ?? usage.input + usage.output + usage.cacheRead + usage.cacheWrite;
  calculateCost(model, usage);
  const { priceFactor = 1 } = report;
  if (priceFactor !== 1)
    for (const key of Object.keys(usage.cost) as (keyof Usage["cost"])[]) usage.cost[key] *= priceFactor;
  // In US dollars: a service that reports a price knows more than the prices of tokens.
  if (typeof report.cost === "number" && Number.isFinite(report.cost) && report.cost >= 0)
    usage.cost.total = report.cost;
}

/** Anthropic's cache writes cost 2× the input price for an hour and 1.25× for five minutes, which is `cacheWrite`. */
const oneHourFactor = 2 / 1.25;

/** Fills `usage.cost` from the model's prices and returns it. */
export function calculateCost(model: Model, usage: Usage): Usage["cost"] {
  const promptTokens = usage.input + usage.cacheRead + usage.cacheWrite;
  const tier = model.cost.tiers
    ?.filter(({ inputTokensAbove }) => promptTokens > inputTokensAbove)
    .sort((a, b) => b.inputTokensAbove - a.inputTokensAbove)[0];
  const rates = tier ?? model.cost;
  const oneHourTokens = Math.min(usage.cacheWrite1h ?? 0, usage.cacheWrite);
  const cacheWriteTokens = usage.cacheWrite - oneHourTokens + oneHourTokens * oneHourFactor;
  const { cost } = usage;
  cost.input = (rates.input * usage.input) / 1e6;
  cost.output = (rates.output * usage.output) / 1e6;
  cost.cacheRead = (rates.cacheRead * usage.cacheRead) / 1e6;
  cost.cacheWrite = (rates.cacheWrite * cacheWriteTokens) / 1e6;
  cost.total = cost.input + cost.output + cost.cacheRead + cost.cacheWrite;
  return cost;
}

/** Rounds US dollars for output, without the noise of binary fractions: nobody wants to read 0.30000000000000004. */
export const roundCost = (dollars: number): number => Math.round(dollars * 1e9) / 1e9;

/** Adds a usage, which is not validated: an invalid count is 0. */
export function addUsage(sum: Usage, usage: Partial<Usage>): Usage {
  const cost = { ...sum.cost };
  for (const key of Object.keys(cost) as (keyof Usage["cost"])[]) cost[key] += toAmount(usage.cost?.[key]);
  const total: Usage = { ...sum, cost };
  for (const key of ["input", "output", "cacheRead", "cacheWrite", "totalTokens"] as const) {
    total[key] += toAmount(usage[key]);
  }
  for (const key of ["reasoning", "cacheWrite1h"] as const) {
    const tokens = (sum[key] ?? 0) + toAmount(usage[key]);
    if (tokens > 0) total[key] = tokens;
  }
  return total;
}

/** Not negative, and small enough that a sum of many is finite. Infinity counts as 0, because JSON has none. */
export const toAmount = (value: unknown): number =>
  typeof value === "number" && Number.isFinite(value) && value > 0 ? Math.min(value, maxAmount) : 0;
const maxAmount = 1e12;
