import type { Model } from "../../model.ts";
import type { SimpleStreamOptions, StreamOptions } from "../../options.ts";
import { clampThinkingLevel, getThinkingBudget, toProviderLevel } from "../../thinking.ts";
import { getFamily } from "./families.ts";

/** Models since Gemini 3 use `level`, older ones `budgetTokens`. */
interface GoogleThinking {
  enabled: boolean;
  /** -1 lets the model decide. */
  budgetTokens?: number;
  /** `minimal`, `low`, `medium` or `high`, in upper or lower case. */
  level?: string;
}

export interface GoogleOptions extends StreamOptions {
  /** Default: the provider's. */
  thinking?: GoogleThinking;
}

/** Lets the model decide how much it thinks. */
const dynamicBudget = -1;

export function resolveOptions(model: Model, options: SimpleStreamOptions): GoogleOptions {
  const { reasoning, thinkingBudgets, ...shared } = options;
  if (!model.reasoning) return shared;
  const level = clampThinkingLevel(model, reasoning ?? "off");
  // If thinking cannot be turned off, the lowest level is used, but the thoughts are not requested.
  if (level === "off" || reasoning === undefined) return { ...shared, thinking: { enabled: false } };
  const family = getFamily(model);
  if (family.thinksBy === "level") {
    return { ...shared, thinking: { enabled: true, level: toProviderLevel(model, level) } };
  }
  const requested = getThinkingBudget(level, thinkingBudgets);
  const limits = family.budget;
  // The API rejects a budget outside the limits. If they are unknown, only a budget set by the user is sent.
  const unclamped = thinkingBudgets ? requested : dynamicBudget;
  const budgetTokens = limits ? Math.min(Math.max(requested, limits.min), limits.max) : unclamped;
  return { ...shared, thinking: { enabled: true, budgetTokens } };
}

/** The `thinkingConfig` of a request; undefined if it should be left out. */
export function encodeThinking(model: Model, options: GoogleOptions): Record<string, unknown> | undefined {
  const { thinking } = options;
  if (!model.reasoning || !thinking) return undefined;
  if (!thinking.enabled) return encodeMinimalThinking(model);
  return {
    includeThoughts: true,
    ...(thinking.level !== undefined
      ? { thinkingLevel: thinking.level.toUpperCase() }
      : thinking.budgetTokens !== undefined && { thinkingBudget: thinking.budgetTokens }),
  };
}

/** Turns thinking off, or sets the minimum if the model cannot turn it off. */
function encodeMinimalThinking(model: Model): Record<string, unknown> | undefined {
  const { thinksBy, budget } = getFamily(model);
  if (thinksBy === "budget") return budget && { thinkingBudget: budget.canBeOff ? 0 : budget.min };
  const level = clampThinkingLevel(model, "off");
  const thinkingLevel = level === "off" ? (model.thinkingLevelMap?.off ?? lowestLevel) : toProviderLevel(model, level);
  return { thinkingLevel: thinkingLevel.toUpperCase() };
}

/** The lowest level that every model with levels supports. */
const lowestLevel = "low";
