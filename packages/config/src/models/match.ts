/** Finds the models whose names fit a text best. Pure. */
import type { Model } from "@tau/ai";
import { oncePer } from "@tau/ai/internal";
import {
  compareAge,
  hasDigit,
  isNumber,
  isVersion,
  lastSegment,
  getLineage,
  type ModelName,
  getName,
} from "./names.ts";

/** Which provider is preferred if several have a model. */
export interface Preference {
  /** Whether a provider can be used. Default: all can. */
  hasKey?: (provider: string) => boolean;
  /** Providers in order of preference. Others come first: the user has added them. */
  providerOrder?: readonly string[];
}

/** Compared from left to right; lower is better. Models of equal rank differ only by family or age. */
type Rank = readonly number[];

interface Match {
  model: Model;
  fit: Fit;
  isUsable: boolean;
}

/** The best of each family among those that fit equally well. More than one is ambiguous. */
export function bestMatches(pattern: string, models: readonly Model[], preference: Preference): Model[] {
  const { hasKey = () => true, providerOrder = [] } = preference;
  const wanted = getName(pattern);
  if (wanted.words.length === 0) return [];
  const matches = models.flatMap((model): Match[] => {
    const fit = toFit(pattern, wanted, model);
    return fit ? [{ model, fit, isUsable: hasKey(model.provider) }] : [];
  });
  const ranked = preferIds(matches).map((match) => ({ model: match.model, rank: getRank(match, providerOrder) }));
  const [best] = ranked.map(({ rank }) => rank).sort(compareRanks);
  if (!best) return [];
  const equal = ranked.filter(({ rank }) => compareRanks(rank, best) === 0).map(({ model }) => model);
  const byAge = equal.sort((a, b) => compareAge(getLineage(a), getLineage(b)));
  const families = new Map<string, Model>();
  for (const model of byAge) {
    const family = `${model.provider}/${getLineage(model).family}`;
    if (!families.has(family)) families.set(family, model);
  }
  return [...families.values()];
}

/**
 * If the text is a whole id, only models with that id match, also without a key; but the same model of another provider
 * that has a key is better. Otherwise all match.
 */
function preferIds(matches: readonly Match[]): readonly Match[] {
  const named = matches.filter(({ fit }) => fit.isId);
  if (named.length === 0) return matches;
  const usable = named.filter(({ isUsable }) => isUsable);
  if (usable.length > 0) return usable;
  const elsewhere = matches.filter(({ isUsable, fit }) => isUsable && (fit.how === "exact" || fit.how === "undated"));
  return elsewhere.length > 0 ? elsewhere : named;
}

function compareRanks(a: Rank, b: Rank): number {
  const index = a.findIndex((value, other) => value !== b[other]);
  return index < 0 ? 0 : a[index]! - b[index]!;
}

/** `exact`: the whole name. `undated`: without its date. `start`: its beginning. `words`: its words, in order. */
interface Fit {
  how: "exact" | "undated" | "start" | "words";
  /** It is the whole id, not only its last part or the display name. */
  isId: boolean;
  /** Every character is the same, not only the words. */
  literal: boolean;
  /** How many words of the name are not in the text. */
  extra: number;
  /** A word of the text is only the beginning of a word of the name. */
  cut: boolean;
  /** The text does not end in the middle of a version. */
  complete: boolean;
}

const order = { exact: 0, undated: 1, start: 2, words: 3 } as const;

function getRank({ model, fit, isUsable }: Match, providerOrder: readonly string[]): Rank {
  const { how, isId, literal, cut, complete, extra } = fit;
  return [
    isUsable ? 0 : 1,
    isId && !literal ? 1 : 0,
    cut ? 1 : 0,
    how === "words" ? 1 : 0,
    complete ? 0 : 1,
    // Among names that begin alike, the maker of a model comes before a service that has another name for it.
    providerOrder.indexOf(model.provider),
    literal ? 0 : 1,
    order[how],
    extra,
  ];
}

/** The best fit of the id, its last part and the display name. */
function toFit(pattern: string, wanted: ModelName, model: Model): Fit | undefined {
  const { id, all } = getNames(model);
  const literal = pattern === model.id || pattern === lastSegment(model.id);
  const fits = all.flatMap((name) => fitName(wanted, name, literal) ?? []);
  const best = fits.sort(
    (a, b) => order[a.how] - order[b.how] || Number(a.cut) - Number(b.cut) || a.extra - b.extra,
  )[0];
  return best && { ...best, isId: isSame(wanted.words, id.words) };
}

const isSame = (a: readonly string[], b: readonly string[]) =>
  a.length === b.length && a.every((word, index) => word === b[index]);

function fitName(wanted: ModelName, name: ModelName, literal: boolean): Omit<Fit, "isId"> | undefined {
  const whole = { literal, cut: false, extra: 0, complete: true };
  if (isSame(wanted.words, name.words)) return { how: "exact", ...whole };
  if (isSame(wanted.words, name.stem)) return { how: "undated", ...whole };
  const indexes = findInOrder(wanted.words, name.words);
  if (!indexes) return undefined;
  const isStart = indexes.every((index, nth) => index === nth);
  const last = wanted.words.at(-1)!;
  const next = name.stem[indexes.at(-1)! + 1];
  const isExtra = (word: string, index: number) =>
    !isNumber(word) && !(isVersion(word) && index > 0) && !indexes.includes(index);
  return {
    how: isStart ? "start" : "words",
    literal,
    cut: indexes.some((index, nth) => name.words[index] !== wanted.words[nth]),
    extra: name.stem.filter(isExtra).length,
    complete: !(isNumber(last) || isVersion(last)) || next === undefined || !isNumber(next),
  };
}

/**
 * The indexes of the words, in order. A word may be the beginning of another; a number has to be whole, and no number is
 * skipped before another, or `opus 5` would be `opus-4-5`.
 */
function findInOrder(wanted: readonly string[], words: readonly string[], nth = 0, from = 0): number[] | undefined {
  const next = wanted[nth];
  if (next === undefined) return [];
  for (let index = from; index < words.length; index++) {
    const word = words[index]!;
    const fits = hasDigit(next) ? word === next : word.startsWith(next);
    const others = fits ? findInOrder(wanted, words, nth + 1, index + 1) : undefined;
    if (others) return [index, ...others];
    if (isNumber(next) && isNumber(word)) return undefined;
  }
  return undefined;
}

interface Names {
  id: ModelName;
  all: readonly ModelName[];
}

const getNames = oncePer((model: Model): Names => {
  const texts = new Set([lastSegment(model.id), model.id, model.name]);
  return { id: getName(model.id), all: [...texts].map(getName) };
});
