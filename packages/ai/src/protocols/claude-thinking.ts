/** The thinking options of Claude models: an effort, or a token budget that is part of the answer's limit. Pure. */
import type { Model } from "../model.ts";
import type { SimpleStreamOptions, StreamOptions } from "../options.ts";
import type { EncodeNote } from "./protocol.ts";
import { clampThinkingLevel, getThinkingBudget, toProviderLevel } from "../thinking.ts";

/** The limit for the answer, in tokens, if the request has none. These APIs require a limit. */
export const getDefaultMaxTokens = (model: Model): number => Math.min(model.maxTokens, 32_000);

/** The note for a request that forces a tool call: Claude models cannot think before a forced call. */
export const thinkingLeftOutNote: EncodeNote = {
  type: "thinking_left_out",
  message: "Thinking was turned off, because this model cannot think before a forced tool call.",
};

/** The minimum thinking budget, and the minimum left for the answer, in tokens. */
const minBudget = 1_024;

export type AnthropicEffort = "low" | "medium" | "high" | "xhigh" | "max" | (string & {});
export type AnthropicThinkingDisplay = "summarized" | "omitted";

/** The thinking options of the APIs that serve Claude models. */
export interface ClaudeOptions extends StreamOptions {
  /** Default: the provider's. */
  thinkingEnabled?: boolean;
  /** For models that think by budget. Must be less than `maxTokens`. Default 1,024. */
  thinkingBudgetTokens?: number;
  /** For models that think by effort, such as those with adaptive thinking. */
  effort?: AnthropicEffort;
  /** Whether Claude models return thinking. Default: `summarized` for adaptive thinking, else the provider's. */
  thinkingDisplay?: AnthropicThinkingDisplay;
  /** Allows thinking between tool calls, for Claude models that think by budget. Default true. */
  interleavedThinking?: boolean;
}

export function resolveClaudeOptions(
  model: Model,
  { reasoning = "off", thinkingBudgets, ...shared }: SimpleStreamOptions,
  thinksBy: "effort" | "budget",
): ClaudeOptions {
  if (!model.reasoning) return shared;
  const level = clampThinkingLevel(model, reasoning);
  if (level === "off") return { ...shared, thinkingEnabled: false };
  if (thinksBy === "effort") {
    const effort = toProviderLevel(model, level);
    return { ...shared, thinkingEnabled: true, effort: effort === "minimal" ? "low" : effort };
  }
  // The budget counts towards maxTokens, so it is added to the limit; then the budget is reduced if the sum is too high.
  const budget = Math.max(minBudget, getThinkingBudget(level, thinkingBudgets));
  const maxTokens = Math.min((shared.maxTokens ?? getDefaultMaxTokens(model)) + budget, model.maxTokens);
  const thinkingBudgetTokens = Math.min(budget, maxTokens - minBudget);
  if (thinkingBudgetTokens < minBudget) return { ...shared, thinkingEnabled: false };
  return { ...shared, thinkingEnabled: true, maxTokens, thinkingBudgetTokens };
}
