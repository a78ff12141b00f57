/** Thinking levels and their meaning for a model. */
import type { Model, ModelThinkingLevel, ThinkingBudgets, ThinkingLevel } from "./model.ts";

/** Lowest first. */
export const thinkingLevels = [
  "off",
  "minimal",
  "low",
  "medium",
  "high",
  "xhigh",
  "max",
] as const satisfies readonly ModelThinkingLevel[];

/** Levels above `high` are supported only if the model's map has a value for them. */
const needsMapping = (level: ModelThinkingLevel) => level === "xhigh" || level === "max";

/** The levels a model supports, lowest first. A model without reasoning supports only `off`. */
export function getSupportedThinkingLevels(model: Model): ModelThinkingLevel[] {
  if (!model.reasoning) return ["off"];
  return thinkingLevels.filter((level) => {
    const value = model.thinkingLevelMap?.[level];
    if (value === null) return false;
    return value !== undefined || !needsMapping(level);
  });
}

/** The level itself if the model supports it, else the nearest one above, else the nearest one below. */
export function clampThinkingLevel(model: Model, level: ModelThinkingLevel): ModelThinkingLevel {
  const supported = getSupportedThinkingLevels(model);
  // An unknown level, such as `none`, counts as `off`.
  const index = Math.max(0, thinkingLevels.indexOf(level));
  const isSupported = (candidate: ModelThinkingLevel) => supported.includes(candidate);
  return thinkingLevels.slice(index).find(isSupported) ?? thinkingLevels.slice(0, index).findLast(isSupported) ?? "off";
}

/** Parses a level from user input or a file; undefined if it is not a level. `none` is accepted for `off`. */
export function parseThinkingLevel(text: string): ModelThinkingLevel | undefined {
  const level = text === "none" ? "off" : text;
  return thinkingLevels.find((known) => known === level);
}

/** The provider's value for a level that the model supports. */
export function toProviderLevel(model: Model, level: ModelThinkingLevel): string {
  return model.thinkingLevelMap?.[level] ?? level;
}

const defaultBudgets: Required<ThinkingBudgets> = { minimal: 1_024, low: 1_024, medium: 8_192, high: 32_768 };

/** The number of tokens a level may spend on thinking. Levels above `high` use the budget of `high`. */
export function getThinkingBudget(level: ThinkingLevel, budgets: ThinkingBudgets = {}): number {
  const key = level === "xhigh" || level === "max" ? "high" : level;
  return budgets[key] ?? defaultBudgets[key];
}
