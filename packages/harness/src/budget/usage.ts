/** Counts and adds usages. They come from providers and logs that are not validated; an invalid count is 0. Pure. */
import { asRecord, toAmount } from "@tau/ai/internal";

export { addUsage, toAmount } from "@tau/ai/internal";

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
