import type { Model, ModelThinkingLevel, ThinkingBudgets } from "../../model.ts";
import type { SimpleStreamOptions, StreamOptions } from "../../options.ts";
import { clampThinkingLevel } from "../../thinking.ts";
import { resolveSamplingParams } from "../sampling.ts";

export interface OpenAICompletionsOptions extends StreamOptions {
  /** An unsupported level becomes the nearest supported one. Default: the provider's. */
  reasoningEffort?: ModelThinkingLevel;
  /** Overrides the token budgets of the levels, for servers whose chat template takes a budget. */
  thinkingBudgets?: ThinkingBudgets;
}

export function resolveOptions(model: Model, options: SimpleStreamOptions): OpenAICompletionsOptions {
  const { reasoning = "off", ...shared } = options;
  const level = clampThinkingLevel(model, reasoning);
  return {
    ...shared,
    ...resolveSamplingParams(model, level, options),
    ...(model.reasoning && { reasoningEffort: level }),
  };
}
