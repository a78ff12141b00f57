import type { Model } from "../../model.ts";
import type { SimpleStreamOptions, StreamOptions } from "../../options.ts";
import { clampThinkingLevel } from "../../thinking.ts";

export type MistralReasoningEffort = "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | (string & {});

export interface MistralOptions extends StreamOptions {
  /** For models that always think when their system prompt tells them to. */
  promptMode?: "reasoning";
  /** For models whose thinking can be adjusted. Unset leaves the decision to the provider. */
  reasoningEffort?: MistralReasoningEffort;
}

/** Magistral models think by their prompt; a model whose levels have words is told one of them. */
const thinksByPrompt = (model: Model): boolean =>
  model.thinkingLevelMap === undefined && /\bmagistral\b/i.test(model.id);

export function resolveOptions(model: Model, options: SimpleStreamOptions): MistralOptions {
  const { reasoning, thinkingBudgets: _budgets, ...shared } = options;
  if (!model.reasoning) return shared;
  const level = clampThinkingLevel(model, reasoning ?? "off");
  if (thinksByPrompt(model)) return level === "off" ? shared : { ...shared, promptMode: "reasoning" };
  const word = model.thinkingLevelMap?.[level];
  if (level === "off") return word ? { ...shared, reasoningEffort: word } : shared;
  // Where nothing else is known, a model thinks fully or not at all.
  return { ...shared, reasoningEffort: word ?? "high" };
}
