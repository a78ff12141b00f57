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

/** What a provider reported, in our terms. Unset fields keep what was known before. */
export type UsageReport = Partial<
  Record<"input" | "output" | "cacheRead" | "cacheWrite" | "cacheWrite1h" | "reasoning" | "totalTokens", unknown>
>;

/** A token count as it may be trusted: finite, whole, not negative, and small enough to add up. */
export function tokenCount(value: unknown): number | undefined {
  if (typeof value !== "number" || !Number.isFinite(value) || value < 0) return undefined;
  return Math.min(Math.round(value), 1e12);
}

/** Takes over what `report` says and recomputes the total and the cost. Changes `usage` in place. */
export function applyUsage(usage: Usage, report: UsageReport, model: Model): void {
  for (const key of ["input", "output", "cacheRead", "cacheWrite", "cacheWrite1h", "reasoning"] as const) {
    const count = tokenCount(report[key]);
    if (count !== undefined) usage[key] = count;
  }
  usage.totalTokens = tokenCount(report.totalTokens) ?? usage.input + usage.output + usage.cacheRead + usage.cacheWrite;
  calculateCost(model, usage);
}

/** An hour in Anthropic's cache costs twice the input price, five minutes 1.25 times; `cacheWrite` is the latter. */
const hourOverFiveMinutes = 2 / 1.25;

/** Fills `usage.cost` from the model's prices and returns it. */
export function calculateCost(model: Model, usage: Usage): Usage["cost"] {
  const prompt = usage.input + usage.cacheRead + usage.cacheWrite;
  const tier = model.cost.tiers
    ?.filter(({ inputTokensAbove }) => prompt > inputTokensAbove)
    .sort((a, b) => b.inputTokensAbove - a.inputTokensAbove)[0];
  const rates = tier ?? model.cost;
  const hourly = Math.min(usage.cacheWrite1h ?? 0, usage.cacheWrite);
  usage.cost.input = (rates.input * usage.input) / 1e6;
  usage.cost.output = (rates.output * usage.output) / 1e6;
  usage.cost.cacheRead = (rates.cacheRead * usage.cacheRead) / 1e6;
  usage.cost.cacheWrite = (rates.cacheWrite * (usage.cacheWrite - hourly + hourly * hourOverFiveMinutes)) / 1e6;
  usage.cost.total = usage.cost.input + usage.cost.output + usage.cost.cacheRead + usage.cost.cacheWrite;
  return usage.cost;
}
