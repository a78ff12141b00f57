/** Which models a list of patterns stands for, such as the setting `enabledModels`. Pure. */
import { clampThinkingLevel, type Model, modelsAreEqual, type ModelThinkingLevel } from "@tau/ai";
import { getReference, type ResolvePreference, resolveModel, splitThinking } from "./resolve.ts";

export interface ScopedModel {
  model: Model;
  /** Absent when the pattern names none. */
  thinkingLevel?: ModelThinkingLevel;
}

export interface ScopeProblem {
  pattern: string;
  kind: "not_found" | "ambiguous";
  message: string;
}

export interface ModelScope {
  /** In the order of the patterns; each model once, as the first pattern that has it says. */
  models: ScopedModel[];
  problems: ScopeProblem[];
}

/**
 * A pattern with `*` or `?` stands for all that fit `provider/id` or the id, in any case, and `*` also goes over
 * slashes. Every other pattern is resolved like a model that somebody names; where that leaves a doubt, all are in.
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
      const { found, level } = globbed(pattern.trim(), models);
      for (const model of found) add(model, level);
      if (found.length === 0)
        scope.problems.push({ pattern, kind: "not_found", message: `No model fits ${JSON.stringify(pattern)}.` });
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

function globbed(pattern: string, models: readonly Model[]): { found: Model[]; level: ModelThinkingLevel | undefined } {
  const fitting = (glob: string) =>
    models.filter((model) => matchesGlob(glob, getReference(model)) || matchesGlob(glob, model.id));
  const whole = fitting(pattern);
  const split = splitThinking(pattern);
  if (whole.length > 0 || !split) return { found: whole, level: undefined };
  return { found: fitting(split.head), level: split.level };
}

/** `*` for any text, `?` for one character. Steps back to the last `*` only, so no pattern is slow. */
export function matchesGlob(glob: string, text: string): boolean {
  const [pattern, subject] = [[...glob.toLowerCase()], [...text.toLowerCase()]];
  let star: { at: number; from: number } | undefined;
  let at = 0;
  for (let from = 0; from < subject.length;) {
    if (pattern[at] === "*") star = { at: at++, from };
    else if (at < pattern.length && (pattern[at] === "?" || pattern[at] === subject[from])) {
      at++;
      from++;
    } else if (star) {
      star.from++;
      from = star.from;
      at = star.at + 1;
    } else return false;
  }
  return pattern.slice(at).every((left) => left === "*");
}
