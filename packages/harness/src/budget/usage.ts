/** Counts and adds usages. They come from providers and logs that are not validated; an invalid count is 0. Pure. */
import type { Usage } from "@tau/ai";
import { asRecord } from "@tau/ai/internal";

interface UsageCount {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  /** The sum of these, or the provider's total if that is larger. */
  total: number;
  /** US dollars. */
  cost: number;
}

export function parseUsage(usage: unknown): UsageCount {
  const fields = asRecord(usage);
  const input = toAmount(fields.input);
  const output = toAmount(fields.output);
  const cacheRead = toAmount(fields.cacheRead);
  const cacheWrite = toAmount(fields.cacheWrite);
  const total = Math.max(toAmount(fields.totalTokens), input + output + cacheRead + cacheWrite);
  const cost = asRecord(fields.cost);
  const costParts = toAmount(cost.input) + toAmount(cost.output) + toAmount(cost.cacheRead) + toAmount(cost.cacheWrite);
  return { input, output, cacheRead, cacheWrite, total, cost: toAmount(cost.total) || costParts };
}

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
