import type { Model } from "../../model.ts";
import type { SimpleStreamOptions, StreamOptions } from "../../options.ts";
import { clampThinkingLevel, thinkingWord } from "../../thinking.ts";

export type ReasoningEffort = "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max" | (string & {});
export type ReasoningSummary = "auto" | "concise" | "detailed" | (string & {});
export type ServiceTier = "auto" | "default" | "flex" | "priority" | (string & {});
export type TextVerbosity = "low" | "medium" | "high";

export interface OpenAIResponsesOptions extends StreamOptions {
  /** In the provider's own words. Unset leaves the decision to the provider. */
  reasoningEffort?: ReasoningEffort;
  /** What of the reasoning is shown. Default `auto` when there is an effort to reason. */
  reasoningSummary?: ReasoningSummary;
  serviceTier?: ServiceTier;
  /** How long-winded the answer is. Default: the provider's; for Codex `low`. */
  textVerbosity?: TextVerbosity;
}

/** The effort that switches reasoning off, or null where it cannot be. */
export function offEffort(model: Model): string | null {
  const word = model.thinkingLevelMap?.off;
  return word === undefined ? "none" : word;
}

export function resolveOptions(model: Model, options: SimpleStreamOptions): OpenAIResponsesOptions {
  const { reasoning = "off", thinkingBudgets: _unused, ...shared } = options;
  if (!model.reasoning) return shared;
  // A model that cannot be switched off is left alone, not put on its lowest level.
  const level = reasoning === "off" ? "off" : clampThinkingLevel(model, reasoning);
  const effort = level === "off" ? offEffort(model) : thinkingWord(model, level);
  return effort === null ? shared : { ...shared, reasoningEffort: effort };
}
