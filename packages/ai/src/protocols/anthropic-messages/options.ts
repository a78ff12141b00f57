import type { Model } from "../../model.ts";
import type { SimpleStreamOptions, StreamOptions } from "../../options.ts";
import { clampThinkingLevel, thinkingBudget, thinkingWord } from "../../thinking.ts";

export type AnthropicEffort = "low" | "medium" | "high" | "xhigh" | "max" | (string & {});
export type AnthropicThinkingDisplay = "summarized" | "omitted";

export interface AnthropicOptions extends StreamOptions {
  /** Unset leaves the decision to the provider. */
  thinkingEnabled?: boolean;
  /** For models that think by budget; must stay below `maxTokens`. Default 1,024. */
  thinkingBudgetTokens?: number;
  /** For models that think adaptively. */
  effort?: AnthropicEffort;
  /** What of the thinking is shown. Default `summarized` for adaptive models, the provider's default for others. */
  thinkingDisplay?: AnthropicThinkingDisplay;
  /** Thinking between tool calls, for models that think by budget. Default true. */
  interleavedThinking?: boolean;
}

export const isAdaptive = (model: Model<"anthropic-messages">): boolean => model.compat?.forceAdaptiveThinking === true;

export const defaultMaxTokens = (model: Model): number => Math.min(model.maxTokens, 32_000);

/** The least a thinking budget may be. */
const leastBudget = 1_024;

export function resolveOptions(model: Model, options: SimpleStreamOptions): AnthropicOptions {
  const { reasoning, thinkingBudgets, ...shared } = options;
  if (!model.reasoning) return shared;
  const level = clampThinkingLevel(model, reasoning ?? "off");
  if (level === "off") return { ...shared, thinkingEnabled: false };
  if (isAdaptive(model as Model<"anthropic-messages">)) {
    const word = thinkingWord(model, level);
    return { ...shared, thinkingEnabled: true, effort: word === "minimal" ? "low" : word };
  }
  // The budget is part of the answer's tokens: raise the limit to leave the answer its room, then fit the budget in.
  const budget = thinkingBudget(level, thinkingBudgets);
  const maxTokens = Math.min((options.maxTokens ?? defaultMaxTokens(model)) + budget, model.maxTokens);
  const thinkingBudgetTokens = Math.min(budget, maxTokens - leastBudget);
  if (thinkingBudgetTokens < leastBudget) return { ...shared, thinkingEnabled: false };
  return { ...shared, thinkingEnabled: true, maxTokens, thinkingBudgetTokens };
}
