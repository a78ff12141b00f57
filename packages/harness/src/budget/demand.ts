/** What a request may cost, and how long its answer may be within what is left. Pure. */
import type { Model } from "@tau/ai";
import { toAmount } from "./counted.ts";

export interface BudgetRequest {
  /** Of everything that is sent, estimated. */
  inputTokens: number;
  /** How long an answer is wanted; 0 when nobody says. */
  maxOutputTokens: number;
  price: Model["cost"];
}

export interface Demand {
  inputTokens: number;
  /** US dollars, at the dearest that input is billed: nobody knows before what a cache has, or takes. */
  inputCost: number;
  /** US dollars for one token of the answer. */
  outputPrice: number;
  /** Infinity when nobody says. */
  wantedOutput: number;
  /** With fewer tokens for its answer a request is not worth sending. */
  minOutput: number;
}

const minOutput = 1_024;

export function toDemand({ inputTokens, maxOutputTokens, price }: BudgetRequest): Demand {
  const input = Math.ceil(toAmount(inputTokens));
  const rates = ratesFor(price, input);
  const inputRate = Math.max(toAmount(rates.input), toAmount(rates.cacheRead), toAmount(rates.cacheWrite));
  const wantedOutput = maxOutputTokens > 0 ? Math.max(1, Math.floor(maxOutputTokens)) : Number.POSITIVE_INFINITY;
  return {
    inputTokens: input,
    inputCost: (input * inputRate) / 1e6,
    outputPrice: toAmount(rates.output) / 1e6,
    wantedOutput,
    minOutput: Math.min(minOutput, wantedOutput),
  };
}

/** Above a tier's threshold the whole request is billed at its rates. */
function ratesFor(price: Model["cost"], inputTokens: number): Omit<Model["cost"], "tiers"> {
  let rates: Omit<Model["cost"], "tiers"> = price;
  let highest = -1;
  for (const tier of price.tiers ?? []) {
    if (inputTokens <= tier.inputTokensAbove || tier.inputTokensAbove <= highest) continue;
    rates = tier;
    highest = tier.inputTokensAbove;
  }
  return rates;
}

/** What nobody has spent or reserved; Infinity without a limit. */
export interface Rest {
  tokens: number;
  cost: number;
}

export type Output = { kind: "fits"; tokens: number } | { kind: "spent"; limit: "tokens" | "cost" };

/**
 * How long the answer may be: as long as it is wanted, but at most half of what is left when the input is paid, so that
 * a sibling can go on; and never less than is worth sending.
 */
export function outputWithin(rest: Rest, demand: Demand): Output {
  const byTokens = rest.tokens - demand.inputTokens;
  if (byTokens < demand.minOutput) return { kind: "spent", limit: "tokens" };
  const dollars = rest.cost - demand.inputCost;
  const byCost = demand.outputPrice > 0 ? dollars / demand.outputPrice : Number.POSITIVE_INFINITY;
  if (dollars < 0 || byCost < demand.minOutput) return { kind: "spent", limit: "cost" };
  const share = Math.max(demand.minOutput, Math.floor(Math.min(byTokens, byCost) / 2));
  return { kind: "fits", tokens: Math.min(demand.wantedOutput, share) };
}
