import type { Model } from "../../model.ts";
import type { SimpleStreamOptions, StreamOptions } from "../../options.ts";
import { clampThinkingLevel } from "../../thinking.ts";

type MistralReasoningEffort = "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | (string & {});

export interface MistralOptions extends StreamOptions {
  /** For models whose thinking is turned on by a system prompt. */
  promptMode?: "reasoning";
  /** For models with adjustable thinking. Default: the provider's. */
  reasoningEffort?: MistralReasoningEffort;
}

/** Magistral models are switched by `promptMode`, unless the model maps its thinking levels to values. */
const thinksByPrompt = (model: Model): boolean =>
  model.thinkingLevelMap === undefined && /\bmagistral\b/i.test(model.id);

export function resolveOptions(model: Model, options: SimpleStreamOptions): MistralOptions {
  const { reasoning, thinkingBudgets: _budgets, ...shared } = options;
  if (!model.reasoning) return shared;
  const level = clampThinkingLevel(model, reasoning ?? "off");
  if (thinksByPrompt(model)) return level === "off" ? shared : { ...shared, promptMode: "reasoning" };
  const effort = model.thinkingLevelMap?.[level];
  if (level === "off") return effort ? { ...shared, reasoningEffort: effort } : shared;
  // `high` is the one effort that every model supports.
  return { ...shared, reasoningEffort: effort ?? "high" };
}
