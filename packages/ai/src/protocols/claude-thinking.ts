/** The thinking options of Claude models: an effort, or a token budget that is part of the answer's limit. Pure. */
import type { Model } from "../model.ts";
import type { SimpleStreamOptions } from "../options.ts";
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

/** The resolved options; the names are those of the protocols' own options. */
export interface ClaudeThinking {
  thinkingEnabled?: boolean;
  thinkingBudgetTokens?: number;
  effort?: string;
  maxTokens?: number;
}

export function resolveClaudeThinking(
  model: Model,
  options: SimpleStreamOptions,
  thinksBy: "effort" | "budget",
): ClaudeThinking {
  if (!model.reasoning) return {};
  const level = clampThinkingLevel(model, options.reasoning ?? "off");
  if (level === "off") return { thinkingEnabled: false };
  if (thinksBy === "effort") {
    const effort = toProviderLevel(model, level);
    return { thinkingEnabled: true, effort: effort === "minimal" ? "low" : effort };
  }
  // The budget counts towards maxTokens, so it is added to the limit; then the budget is reduced if the sum is too high.
  const budget = Math.max(minBudget, getThinkingBudget(level, options.thinkingBudgets));
  const maxTokens = Math.min((options.maxTokens ?? getDefaultMaxTokens(model)) + budget, model.maxTokens);
  const thinkingBudgetTokens = Math.min(budget, maxTokens - minBudget);
  if (thinkingBudgetTokens < minBudget) return { thinkingEnabled: false };
  return { thinkingEnabled: true, maxTokens, thinkingBudgetTokens };
}
