/** Thinking levels, and what they mean to a model. */
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

/** Levels beyond `high` exist only where a model's map names them. */
const needsMapping = (level: ModelThinkingLevel) => level === "xhigh" || level === "max";

/** The levels a model accepts, lowest first. A model without reasoning has only `off`. */
export function getSupportedThinkingLevels(model: Model): ModelThinkingLevel[] {
  if (!model.reasoning) return ["off"];
  return thinkingLevels.filter((level) => {
    const word = model.thinkingLevelMap?.[level];
    if (word === null) return false;
    return word !== undefined || !needsMapping(level);
  });
}

/** The level itself if the model has it, else the nearest one above, else the nearest one below. */
export function clampThinkingLevel(model: Model, level: ModelThinkingLevel): ModelThinkingLevel {
  const supported = getSupportedThinkingLevels(model);
  // Whatever is not a level, such as `none`, asks for no thinking.
  const wanted = Math.max(0, thinkingLevels.indexOf(level));
  const isSupported = (candidate: ModelThinkingLevel) => supported.includes(candidate);
  return (
    thinkingLevels.slice(wanted).find(isSupported) ?? thinkingLevels.slice(0, wanted).findLast(isSupported) ?? "off"
  );
}

/** Reads a level as people and older files write it; `none` is `off`. */
export function parseThinkingLevel(text: string): ModelThinkingLevel | undefined {
  const level = text === "none" ? "off" : text;
  return thinkingLevels.find((known) => known === level);
}

/** The provider's word for a level that the model supports. */
export function thinkingWord(model: Model, level: ModelThinkingLevel): string {
  return model.thinkingLevelMap?.[level] ?? level;
}

const defaultBudgets: Required<ThinkingBudgets> = { minimal: 1_024, low: 1_024, medium: 8_192, high: 32_768 };

/** Tokens a level may spend on thinking. Levels beyond `high` get what `high` gets. */
export function thinkingBudget(level: ThinkingLevel, budgets: ThinkingBudgets = {}): number {
  const key = level === "xhigh" || level === "max" ? "high" : level;
  return budgets[key] ?? defaultBudgets[key];
}
