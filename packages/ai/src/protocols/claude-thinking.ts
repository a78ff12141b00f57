/** How a Claude is told how hard to think: by an effort, or by a budget that its answer shares. Pure. */
import type { Model } from "../model.ts";
import type { SimpleStreamOptions } from "../options.ts";
import { clampThinkingLevel, getThinkingBudget, toProviderLevel } from "../thinking.ts";

/** The longest answer where nobody says how long it may be, in tokens. These APIs want a limit. */
export const defaultMaxTokens = (model: Model): number => Math.min(model.maxTokens, 32_000);

/** The least a thinking budget may be, and the least that must be left for the answer. */
const minBudget = 1_024;

/** What was decided; the fields are those of the protocols' own options. */
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
    const word = toProviderLevel(model, level);
    return { thinkingEnabled: true, effort: word === "minimal" ? "low" : word };
  }
  // The budget is part of the answer's tokens: raise the limit to leave the answer its room, then fit the budget in.
  const budget = Math.max(minBudget, getThinkingBudget(level, options.thinkingBudgets));
  const maxTokens = Math.min((options.maxTokens ?? defaultMaxTokens(model)) + budget, model.maxTokens);
  const thinkingBudgetTokens = Math.min(budget, maxTokens - minBudget);
  if (thinkingBudgetTokens < minBudget) return { thinkingEnabled: false };
  return { thinkingEnabled: true, maxTokens, thinkingBudgetTokens };
}
