/** Finds the models that match a list of patterns, such as the setting `enabledModels`. Pure. */
import { clampThinkingLevel, type Model, modelsAreEqual, type ModelThinkingLevel } from "@tau/ai";
import { matchWildcards } from "@tau/ai/internal";
import { getReference, type ResolvePreference, resolveModel, splitThinking } from "./resolve.ts";

export interface ScopedModel {
  model: Model;
  /** Absent if the pattern has none. */
  thinkingLevel?: ModelThinkingLevel;
}

export interface ScopeProblem {
  pattern: string;
  kind: "not_found" | "ambiguous";
  message: string;
}

export interface ModelScope {
  /** In the order of the patterns; each model once, with the level of the first pattern that matches it. */
  models: ScopedModel[];
  problems: ScopeProblem[];
}

/**
 * A pattern with `*` or `?` matches `provider/id` or the id, in upper or lower case; `*` also matches slashes. Any other
 * pattern is resolved like a model that a user typed; if it is ambiguous, all candidates are included.
 */
export function scopeModels(
  patterns: readonly string[],
  models: readonly Model[],
  preference: ResolvePreference = {},
): ModelScope {
  const scope: ModelScope = { models: [], problems: [] };
  const add = (model: Model, level: ModelThinkingLevel | undefined) => {
    if (scope.models.some((known) => modelsAreEqual(known.model, model))) return;
    scope.models.push({ model, ...(level && { thinkingLevel: clampThinkingLevel(model, level) }) });
  };
  for (const pattern of patterns) {
    if (/[*?]/.test(pattern)) {
      const { matches, level } = matchGlob(pattern.trim(), models);
      for (const model of matches) add(model, level);
      if (matches.length === 0)
        scope.problems.push({ pattern, kind: "not_found", message: `No model matches ${JSON.stringify(pattern)}.` });
      continue;
    }
    const resolution = resolveModel(pattern, models, preference);
    if (resolution.kind === "resolved") add(resolution.model, resolution.thinkingLevel);
    else scope.problems.push({ pattern, kind: resolution.kind, message: resolution.message });
    if (resolution.kind === "ambiguous")
      for (const model of resolution.candidates) add(model, splitThinking(pattern)?.level);
  }
  return scope;
}

function matchGlob(
  pattern: string,
  models: readonly Model[],
): { matches: Model[]; level: ModelThinkingLevel | undefined } {
  const filter = (glob: string) =>
    models.filter((model) => matchesGlob(glob, getReference(model)) || matchesGlob(glob, model.id));
  const whole = filter(pattern);
  const split = splitThinking(pattern);
  if (whole.length > 0 || !split) return { matches: whole, level: undefined };
  return { matches: filter(split.head), level: split.level };
}

/** `*` matches any text, `?` one character. */
export const matchesGlob = (glob: string, text: string): boolean =>
  matchWildcards(
    [...glob.toLowerCase()],
    [...text.toLowerCase()],
    (part) => part === "*",
    (part, character) => part === "?" || part === character,
  );
