import type { Model } from "../../model.ts";
import type { SimpleStreamOptions, StreamOptions } from "../../options.ts";
import { clampThinkingLevel, toProviderLevel } from "../../thinking.ts";
import { resolveSamplingParams } from "../sampling.ts";

type ReasoningEffort = "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max" | (string & {});
type ReasoningSummary = "auto" | "concise" | "detailed" | (string & {});
type TextVerbosity = "low" | "medium" | "high";

export interface OpenAIResponsesOptions extends StreamOptions {
  /** A value that the provider defines. Default: the provider's. */
  reasoningEffort?: ReasoningEffort;
  /** How the reasoning is summarised. Default `auto` if reasoning is on, else no summary. */
  reasoningSummary?: ReasoningSummary;
  /** How detailed the answer is. Default: the provider's; for Codex `low`. */
  textVerbosity?: TextVerbosity;
}

/** The effort that turns reasoning off; null if the model cannot turn it off. */
export function getOffEffort(model: Model): string | null {
  const effort = model.thinkingLevelMap?.off;
  return effort === undefined ? "none" : effort;
}

export function resolveOptions(model: Model, options: SimpleStreamOptions): OpenAIResponsesOptions {
  const { reasoning = "off", thinkingBudgets: _unused, ...given } = options;
  const shared = { ...given, ...resolveSamplingParams(model, clampThinkingLevel(model, reasoning), options) };
  if (!model.reasoning) return shared;
  // If reasoning cannot be turned off, no effort is sent: the lowest level is not what was requested.
  const level = reasoning === "off" ? "off" : clampThinkingLevel(model, reasoning);
  const effort = level === "off" ? getOffEffort(model) : toProviderLevel(model, level);
  return effort === null ? shared : { ...shared, reasoningEffort: effort };
}
