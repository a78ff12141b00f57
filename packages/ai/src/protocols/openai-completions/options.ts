import type { Model, ModelThinkingLevel, ThinkingBudgets } from "../../model.ts";
import type { SimpleStreamOptions, StreamOptions } from "../../options.ts";
import { clampThinkingLevel } from "../../thinking.ts";

export interface OpenAICompletionsOptions extends StreamOptions {
  /** How hard to think. A level the model does not have becomes the nearest one. Unset leaves it to the provider. */
  reasoningEffort?: ModelThinkingLevel;
  /** Overrides the budgets behind the levels, for servers whose chat template takes one. */
  thinkingBudgets?: ThinkingBudgets;
}

export function resolveOptions(model: Model, options: SimpleStreamOptions): OpenAICompletionsOptions {
  const { reasoning, ...shared } = options;
  return model.reasoning ? { ...shared, reasoningEffort: clampThinkingLevel(model, reasoning ?? "off") } : shared;
}
