import type { Model } from "../../model.ts";
import type { SimpleStreamOptions, StreamOptions } from "../../options.ts";
import { resolveClaudeThinking } from "../claude-thinking.ts";

export type AnthropicEffort = "low" | "medium" | "high" | "xhigh" | "max" | (string & {});
export type AnthropicThinkingDisplay = "summarized" | "omitted";

export interface AnthropicOptions extends StreamOptions {
  /** Default: the provider's. */
  thinkingEnabled?: boolean;
  /** For models that think by budget. Must be less than `maxTokens`. Default 1,024. */
  thinkingBudgetTokens?: number;
  /** For models with adaptive thinking. */
  effort?: AnthropicEffort;
  /** Whether thinking is returned. Default: `summarized` for models with adaptive thinking, else the provider's. */
  thinkingDisplay?: AnthropicThinkingDisplay;
  /** Allows thinking between tool calls, for models that think by budget. Default true. */
  interleavedThinking?: boolean;
}

export const isAdaptive = (model: Model<"anthropic-messages">): boolean => model.compat?.forceAdaptiveThinking === true;

export function resolveOptions(model: Model, options: SimpleStreamOptions): AnthropicOptions {
  const { reasoning: _level, thinkingBudgets: _budgets, ...shared } = options;
  const thinksBy = isAdaptive(model as Model<"anthropic-messages">) ? "effort" : "budget";
  return { ...shared, ...resolveClaudeThinking(model, options, thinksBy) };
}
