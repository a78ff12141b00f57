/** How well a model answers to what somebody typed, and which of several does best. Pure. */
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

/** Who is asked first where several have what was asked for. */
export interface Preference {
  /** Whether a provider can be used as things are. Default: all can. */
  hasKey?: (provider: string) => boolean;
  /** Providers, the preferred first. Those that are not listed come before all others: somebody has added them. */
  providerOrder?: readonly string[];
}

/** The lower, the better, from left to right. Those that are equal in all of it differ only by family or age. */
type Rank = readonly number[];

interface Match {
  model: Model;
  fit: Fit;
  isUsable: boolean;
}

/** All that fit equally well, one of each family, the best of each. More than one cannot be told apart. */
export function bestMatches(pattern: string, models: readonly Model[], preference: Preference): Model[] {
  const { hasKey = () => true, providerOrder = [] } = preference;
  const wanted = getName(pattern);
  if (wanted.words.length === 0) return [];
  const matches = models.flatMap((model): Match[] => {
    const fit = toFit(pattern, wanted, model);
    return fit ? [{ model, fit, isUsable: hasKey(model.provider) }] : [];
  });
  const ranked = meant(matches).map((match) => ({ model: match.model, rank: getRank(match, providerOrder) }));
  const best = ranked.map(({ rank }) => rank).reduce<Rank | undefined>(lower, undefined);
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
 * An id that was written out is meant, even where there is no key for it yet; then only the same model elsewhere, where
 * there is one, is better. Everything else is a guess, and open to all.
 */
function meant(matches: readonly Match[]): readonly Match[] {
  const named = matches.filter(({ fit }) => fit.isId);
  if (named.length === 0) return matches;
  const usable = named.filter(({ isUsable }) => isUsable);
  if (usable.length > 0) return usable;
  const elsewhere = matches.filter(({ isUsable, fit }) => isUsable && (fit.how === "exact" || fit.how === "undated"));
  return elsewhere.length > 0 ? elsewhere : named;
}

const lower = (a: Rank | undefined, b: Rank): Rank => (a && compareRanks(a, b) <= 0 ? a : b);

function compareRanks(a: Rank, b: Rank): number {
  const at = a.findIndex((value, index) => value !== b[index]);
  return at < 0 ? 0 : a[at]! - b[at]!;
}

/** `exact`: the whole name. `undated`: without its date. `start`: its beginning. `words`: its words, in their order. */
interface Fit {
  how: "exact" | "undated" | "start" | "words";
  /** It is the whole id, not only its last part or the name for people. */
  isId: boolean;
  /** Letter for letter, not only by its words. */
  literal: boolean;
  /** Words of the name that were not asked for. */
  extra: number;
  /** A word was cut short. */
  cut: boolean;
  /** What was asked for does not stop in the middle of a version. */
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
    // Among those that begin alike, who makes a model comes before who has another name for it.
    providerOrder.indexOf(model.provider),
    literal ? 0 : 1,
    order[how],
    extra,
  ];
}

/** The best of what the id, its last part and the name for people give. */
function toFit(pattern: string, wanted: ModelName, model: Model): Fit | undefined {
  const { id, all } = getNames(model);
  const literal = pattern === model.id || pattern === lastSegment(model.id);
  const fits = all.flatMap((name) => fitName(wanted, name, literal) ?? []);
  const best = fits.sort(
    (a, b) => order[a.how] - order[b.how] || Number(a.cut) - Number(b.cut) || a.extra - b.extra,
  )[0];
  return best && { ...best, isId: same(wanted.words, id.words) };
}

const same = (a: readonly string[], b: readonly string[]) =>
  a.length === b.length && a.every((word, at) => word === b[at]);

function fitName(wanted: ModelName, name: ModelName, literal: boolean): Omit<Fit, "isId"> | undefined {
  const whole = { literal, cut: false, extra: 0, complete: true };
  if (same(wanted.words, name.words)) return { how: "exact", ...whole };
  if (same(wanted.words, name.stem)) return { how: "undated", ...whole };
  const found = findInOrder(wanted.words, name.words);
  if (!found) return undefined;
  const isStart = found.every((at, index) => at === index);
  const last = wanted.words.at(-1)!;
  const next = name.stem[found.at(-1)! + 1];
  const isExtra = (word: string, at: number) => !isNumber(word) && !(isVersion(word) && at > 0) && !found.includes(at);
  return {
    how: isStart ? "start" : "words",
    literal,
    cut: found.some((at, index) => name.words[at] !== wanted.words[index]),
    extra: name.stem.filter(isExtra).length,
    complete: !(isNumber(last) || isVersion(last)) || next === undefined || !isNumber(next),
  };
}

/**
 * Where the words are, one behind the other. A word may be cut short, a number may not; and no number is passed over on
 * the way to another, or `opus 5` would be `opus-4-5`.
 */
function findInOrder(wanted: readonly string[], words: readonly string[], nth = 0, from = 0): number[] | undefined {
  const next = wanted[nth];
  if (next === undefined) return [];
  for (let at = from; at < words.length; at++) {
    const word = words[at]!;
    const fits = hasDigit(next) ? word === next : word.startsWith(next);
    const others = fits ? findInOrder(wanted, words, nth + 1, at + 1) : undefined;
    if (others) return [at, ...others];
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
