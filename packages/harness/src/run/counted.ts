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
export function countedOf(usage: unknown): Counted {
  const fields = fieldsOf(usage);
  const input = amountOf(fields.input);
  const output = amountOf(fields.output);
  const cacheRead = amountOf(fields.cacheRead);
  const cacheWrite = amountOf(fields.cacheWrite);
  const total = Math.max(amountOf(fields.totalTokens), input + output + cacheRead + cacheWrite);
  return { input, output, cacheRead, cacheWrite, total, cost: costOf(fieldsOf(fields.cost)) };
}

function costOf(cost: Record<string, unknown>): number {
  const parts = amountOf(cost.input) + amountOf(cost.output) + amountOf(cost.cacheRead) + amountOf(cost.cacheWrite);
  return amountOf(cost.total) || parts;
}

/** Finite, not negative, and small enough that a sum of many stays finite. */
export const amountOf = (value: unknown): number =>
  typeof value === "number" && value > 0 ? Math.min(value, largestAmount) : 0;
const largestAmount = 1e12;

export const fieldsOf = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
