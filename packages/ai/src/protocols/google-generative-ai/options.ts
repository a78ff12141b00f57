import type { Model } from "../../model.ts";
import type { SimpleStreamOptions, StreamOptions } from "../../options.ts";
import { clampThinkingLevel, getThinkingBudget, toProviderLevel } from "../../thinking.ts";
import { getFamily } from "./families.ts";

/** Which of the two limits applies is the model's choice: `level` since Gemini 3, `budgetTokens` before. */
export interface GoogleThinking {
  enabled: boolean;
  /** -1 lets the model decide. */
  budgetTokens?: number;
  /** `minimal`, `low`, `medium` or `high`, in either case. */
  level?: string;
}

export interface GoogleOptions extends StreamOptions {
  /** Unset leaves the decision to the provider. */
  thinking?: GoogleThinking;
}

/** Lets the model decide how much it thinks. */
const dynamicBudget = -1;

export function resolveOptions(model: Model, options: SimpleStreamOptions): GoogleOptions {
  const { reasoning, thinkingBudgets, ...shared } = options;
  if (!model.reasoning) return shared;
  const level = clampThinkingLevel(model, reasoning ?? "off");
  // A model that cannot be told to stop thinking has a lowest level instead; nobody asked to see those thoughts.
  if (level === "off" || reasoning === undefined) return { ...shared, thinking: { enabled: false } };
  const family = getFamily(model);
  if (family.thinksBy === "level") {
    return { ...shared, thinking: { enabled: true, level: toProviderLevel(model, level) } };
  }
  const wanted = getThinkingBudget(level, thinkingBudgets);
  const known = family.budget;
  // Outside of what a model allows the request is refused; where that is unknown only a person's own number is sent.
  const unclamped = thinkingBudgets ? wanted : dynamicBudget;
  const budgetTokens = known ? Math.min(Math.max(wanted, known.least), known.most) : unclamped;
  return { ...shared, thinking: { enabled: true, budgetTokens } };
}

/** The `thinkingConfig` of a request; undefined where nothing should be said. */
export function thinkingConfig(model: Model, options: GoogleOptions): Record<string, unknown> | undefined {
  const { thinking } = options;
  if (!model.reasoning || !thinking) return undefined;
  if (!thinking.enabled) return minThinking(model);
  return {
    includeThoughts: true,
    ...(thinking.level !== undefined
      ? { thinkingLevel: thinking.level.toUpperCase() }
      : thinking.budgetTokens !== undefined && { thinkingBudget: thinking.budgetTokens }),
  };
}

/** Off where the model can be off, else as little as it can. */
function minThinking(model: Model): Record<string, unknown> | undefined {
  const { thinksBy, budget } = getFamily(model);
  if (thinksBy === "budget") return budget && { thinkingBudget: budget.canBeOff ? 0 : budget.least };
  const level = clampThinkingLevel(model, "off");
  const word = level === "off" ? (model.thinkingLevelMap?.off ?? lowestLevel) : toProviderLevel(model, level);
  return { thinkingLevel: word.toUpperCase() };
}

/** Every model that thinks by level has this one. */
const lowestLevel = "low";
