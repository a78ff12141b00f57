/** Computes what a request may cost, and how long its answer may be with what remains of a budget. Pure. */
import type { Model } from "@tau/ai";
import { toAmount } from "./usage.ts";

export interface BudgetRequest {
  /** An estimate of everything that is sent. */
  inputTokens: number;
  /** The requested length of the answer; 0 if there is no limit. */
  maxOutputTokens: number;
  price: Model["cost"];
}

export interface Demand {
  inputTokens: number;
  /** US dollars at the highest rate for input, because it is unknown what the provider's cache holds. */
  inputCost: number;
  /** US dollars per token of the answer. */
  outputPrice: number;
  /** Infinity if there is no limit. */
  maxOutput: number;
  /** With fewer tokens for its answer, a request is not worth sending. */
  minOutput: number;
}

const minOutputTokens = 1_024;

export function toDemand({ inputTokens, maxOutputTokens, price }: BudgetRequest): Demand {
  const input = Math.ceil(toAmount(inputTokens));
  const rates = findRates(price, input);
  const inputRate = Math.max(toAmount(rates.input), toAmount(rates.cacheRead), toAmount(rates.cacheWrite));
  const maxOutput = maxOutputTokens > 0 ? Math.max(1, Math.floor(maxOutputTokens)) : Number.POSITIVE_INFINITY;
  return {
    inputTokens: input,
    inputCost: (input * inputRate) / 1e6,
    outputPrice: toAmount(rates.output) / 1e6,
    maxOutput,
    minOutput: Math.min(minOutputTokens, maxOutput),
  };
}

/** Above the threshold of a tier, the whole request is billed at its rates. */
function findRates(price: Model["cost"], inputTokens: number): Omit<Model["cost"], "tiers"> {
  const tiers = (price.tiers ?? []).filter((tier) => inputTokens > tier.inputTokensAbove);
  const [highest] = tiers.sort((a, b) => b.inputTokensAbove - a.inputTokensAbove);
  return highest ?? price;
}

/** Amounts that are neither spent nor reserved; Infinity without a limit. */
export interface Remaining {
  tokens: number;
  cost: number;
}

type OutputLimit = { kind: "fits"; tokens: number } | { kind: "spent"; limit: "tokens" | "cost" };

/** At most half of what remains after the input, so that a sibling can continue; but never less than is worth sending. */
export function limitOutput(remaining: Remaining, demand: Demand): OutputLimit {
  const byTokens = remaining.tokens - demand.inputTokens;
  if (byTokens < demand.minOutput) return { kind: "spent", limit: "tokens" };
  const dollars = remaining.cost - demand.inputCost;
  const byCost = demand.outputPrice > 0 ? dollars / demand.outputPrice : Number.POSITIVE_INFINITY;
  if (dollars < 0 || byCost < demand.minOutput) return { kind: "spent", limit: "cost" };
  const share = Math.max(demand.minOutput, Math.floor(Math.min(byTokens, byCost) / 2));
  return { kind: "fits", tokens: Math.min(demand.maxOutput, share) };
}
