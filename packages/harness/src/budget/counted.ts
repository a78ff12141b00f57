/** What a provider, or the log of somebody else, says was used: as far as it can be trusted to add up. Pure. */

export interface Counted {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  /** All of them together, and what the provider counted beyond them. */
  total: number;
  /** US dollars. */
  cost: number;
}

/** Logs are read without being checked, so a usage may be anything; what is no count is 0. */
export function toCounted(usage: unknown): Counted {
  const fields = toFields(usage);
  const input = toAmount(fields.input);
  const output = toAmount(fields.output);
  const cacheRead = toAmount(fields.cacheRead);
  const cacheWrite = toAmount(fields.cacheWrite);
  const total = Math.max(toAmount(fields.totalTokens), input + output + cacheRead + cacheWrite);
  return { input, output, cacheRead, cacheWrite, total, cost: getCost(toFields(fields.cost)) };
}

function getCost(cost: Record<string, unknown>): number {
  const parts = toAmount(cost.input) + toAmount(cost.output) + toAmount(cost.cacheRead) + toAmount(cost.cacheWrite);
  return toAmount(cost.total) || parts;
}

/** Finite, not negative, and small enough that a sum of many stays finite. */
export const toAmount = (value: unknown): number =>
  typeof value === "number" && value > 0 ? Math.min(value, maxAmount) : 0;
const maxAmount = 1e12;

export const toFields = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
