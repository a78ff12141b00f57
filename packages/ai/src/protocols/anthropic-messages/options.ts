import type { Model } from "../../model.ts";
import type { SimpleStreamOptions, StreamOptions } from "../../options.ts";
import { resolveClaudeThinking } from "../claude-thinking.ts";

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

export function resolveOptions(model: Model, options: SimpleStreamOptions): AnthropicOptions {
  const { reasoning: _level, thinkingBudgets: _budgets, ...shared } = options;
  const thinksBy = isAdaptive(model as Model<"anthropic-messages">) ? "effort" : "budget";
  return { ...shared, ...resolveClaudeThinking(model, options, thinksBy) };
}
