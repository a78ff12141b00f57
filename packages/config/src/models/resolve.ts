/** Finds the model that a user typed: `provider/id:thinking`, or any part of it that is unambiguous. Pure. */
import { clampThinkingLevel, type Model, type ModelThinkingLevel, parseThinkingLevel } from "@tau/ai";
import { nearestNames, thinkingLevels } from "@tau/ai/internal";
import { bestMatches, type Preference } from "./match.ts";
import { hasDigit, getWords, lastSegment } from "./names.ts";

export interface ResolvePreference extends Preference {
  /** A model that is not listed, of a provider whose list may lack some. Default: none. */
  unlisted?: (provider: string, id: string) => Model | undefined;
  /** The models with an id that providers no longer list. Default: none. */
  getRetired?: (id: string) => readonly Model[];
  /** The id of the default model of a provider, for a text that is only its name. Default: none. */
  getDefault?: (provider: string) => string | undefined;
}

export type ModelResolution =
  | {
      kind: "resolved";
      model: Model;
      /** The level of the text, or the nearest that the model has. Absent if the text has none. */
      thinkingLevel?: ModelThinkingLevel;
      /** The level of the text, if the model does not have it. */
      askedThinkingLevel?: ModelThinkingLevel;
      /** False if the text is only a part of the name: then report which model it is. */
      exact: boolean;
      /** False if its provider cannot be used. */
      hasKey: boolean;
      /** The role that the text names. */
      role?: string;
      /** Whether the role has no model, so that this is the default model. Absent without a role. */
      isDefault?: boolean;
    }
  | { kind: "ambiguous"; candidates: Model[]; message: string }
  | { kind: "not_found"; nearest: string[]; message: string };

/** Splits `head:level`. Undefined if the last colon is not followed by a thinking level. */
export function splitThinking(text: string): { head: string; level: ModelThinkingLevel } | undefined {
  const [, head = "", suffix = ""] = /^(.+):(.*)$/s.exec(text) ?? [];
  const level = parseThinkingLevel(suffix.trim().toLowerCase());
  return level && { head: head.trim(), level };
}

/** More than any name in use. A longer text is not compared with similar names, which could take minutes. */
const maxLength = 500;

export const getReference = ({ provider, id }: Model): string => `${provider}/${id}`;

/**
 * Ids may have slashes and colons, so the longest name wins: first the whole text as `provider/id` or as an id, then the
 * text without a thinking level, then the best fitting name.
 */
export function resolveModel(
  spec: string,
  models: readonly Model[],
  preference: ResolvePreference = {},
): ModelResolution {
  const text = renameProvider(spec.trim());
  const split = splitThinking(text);
  const readings = [{ head: text, level: undefined }, ...(split ? [split] : [])];
  for (const { head, level } of readings) {
    const model = findExact(head, models);
    if (model) return toResolved(model, level, head, preference);
  }
  if (text.length > maxLength) {
    const message = `There is no model with a name of ${text.length} characters. tau models --all lists those that are known.`;
    return { kind: "not_found", nearest: [], message };
  }
  for (const { head, level } of readings.toReversed()) {
    const matches = findNearest(head, models, preference);
    if (matches.length === 1) return toResolved(matches[0]!, level, head, preference);
    if (matches.length > 1) return toAmbiguous(text, matches);
  }
  return toNotFound(text, models);
}

/** Other names of providers that programs and settings have. */
const providerAliases: Readonly<Record<string, string>> = { "llama.cpp": "llamacpp" };

function renameProvider(text: string): string {
  const [provider = "", ...rest] = text.split("/");
  const name = provider.toLowerCase();
  return Object.hasOwn(providerAliases, name) ? [providerAliases[name], ...rest].join("/") : text;
}

function toResolved(
  model: Model,
  level: ModelThinkingLevel | undefined,
  head: string,
  { hasKey = () => true }: Preference,
): ModelResolution {
  const exact = [model.id, getReference(model)].some((name) => name.toLowerCase() === head.toLowerCase());
  const resolution = { kind: "resolved" as const, model, exact, hasKey: hasKey(model.provider) };
  if (level === undefined) return resolution;
  const thinkingLevel = clampThinkingLevel(model, level);
  return { ...resolution, thinkingLevel, ...(thinkingLevel !== level && { askedThinkingLevel: level }) };
}

const findExact = (text: string, models: readonly Model[]) => models.find((model) => getReference(model) === text);

function findNearest(text: string, models: readonly Model[], preference: ResolvePreference): Model[] {
  const slash = text.indexOf("/");
  if (slash <= 0) return findBare(text, models, preference);
  const [provider, id] = [text.slice(0, slash), text.slice(slash + 1)];
  const own = filterByProvider(provider, models);
  if (own.length > 0 && id === "") return findDefault(own, preference);
  const matches = own.length > 0 ? bestMatches(id, own, {}) : [];
  if (matches.length > 0) return matches;
  // Gateways put the maker into the id, and the maker may be a provider too: `openai/gpt-oss-120b`.
  const gateways = models.filter((model) => model.id.toLowerCase() === text.toLowerCase());
  if (gateways.length > 0) return bestMatches(text, gateways, preference);
  const isId = getWords(id).length > 0 && !hasWrongLevel(id, own);
  const unlisted = isId ? preference.unlisted?.(provider.toLowerCase(), id) : undefined;
  if (unlisted) return [unlisted];
  if (own.length > 0) return [];
  // There is no such provider. A part of the name of another one is not meant: the request would go to somebody else.
  return bestMatches(text, models.filter(isOfMaker(provider)), preference);
}

/** Whether the id of a gateway's model begins with this maker, such as `z-ai` in `z-ai/glm-5`. */
const isOfMaker = (name: string) => (model: Model) =>
  model.id.toLowerCase().split("/").slice(0, -1).includes(name.toLowerCase());

/** Whether only the suffix of a known name is wrong, because it is not a thinking level. */
function hasWrongLevel(text: string, models: readonly Model[]): boolean {
  const colon = text.lastIndexOf(":");
  return colon > 0 && bestMatches(text.slice(0, colon), models, {}).length > 0;
}

/** The name of a provider means its default model, unless the provider cannot be used and another has a model of that name. */
function findBare(text: string, models: readonly Model[], preference: ResolvePreference): Model[] {
  const { hasKey = () => true } = preference;
  const own = filterByProvider(text, models);
  if (own.length > 0 && hasKey(own[0]!.provider)) return findDefault(own, preference);
  // A whole id means that model, not a similar one that is still listed.
  const isListed = models.some(({ id, provider }) => id === text && hasKey(provider));
  const retired = isListed ? [] : (preference.getRetired?.(text) ?? []).filter(({ provider }) => hasKey(provider));
  if (retired.length > 0) return bestMatches(text, retired, preference);
  const matches = bestMatches(text, models, preference);
  return own.length === 0 || (matches[0] && hasKey(matches[0].provider)) ? matches : findDefault(own, preference);
}

const filterByProvider = (name: string, models: readonly Model[]) =>
  models.filter(({ provider }) => provider.toLowerCase() === name.toLowerCase());

function findDefault(own: Model[], { getDefault }: ResolvePreference): Model[] {
  const id = getDefault?.(own[0]!.provider);
  return [own.find((each) => each.id === id) ?? own[0]!];
}

/** A longer list is not helpful. */
const maxListed = 8;

function toAmbiguous(text: string, candidates: Model[]): ModelResolution {
  const shown = candidates.slice(0, maxListed).map(getReference).join(", ");
  const more = candidates.length > maxListed ? `, and ${candidates.length - maxListed} more` : "";
  return {
    kind: "ambiguous",
    candidates,
    message: `${JSON.stringify(text)} could be ${shown}${more}. Type more of the name.`,
  };
}

function toNotFound(text: string, models: readonly Model[]): ModelResolution {
  if (text === "") return { kind: "not_found", nearest: [], message: "No model was named." };
  const slash = text.indexOf("/");
  const own = filterByProvider(text.slice(0, Math.max(0, slash)), models);
  const names = own.length > 0 ? own.map(getReference) : [...new Set(models.map(({ id }) => id))];
  const wanted = splitThinking(text)?.head ?? text;
  const similar = findSimilar(wanted, names);
  const nearest =
    similar.length > 0 ? similar : findCorrected(wanted.slice(own.length > 0 ? slash + 1 : 0), own, models);
  const quoted = nearest.map((name) => JSON.stringify(name)).join(" or ");
  const hint = nearest.length === 0 ? " tau models --all lists those that are known." : ` Did you mean ${quoted}?`;
  const added = own.length > 0 ? " You can add a newer model in models.json." : "";
  const message = `There is no model ${JSON.stringify(wanted)}.${describeWrongLevel(text, models)}${hint}${added}`;
  return { kind: "not_found", nearest, message };
}

/** A short text is similar to names that differ by one edit. It is a part of too many names for that to matter. */
function findSimilar(text: string, names: readonly string[]): string[] {
  if (text.length > 5) return nearestNames(text, names);
  const short = names.filter((name) => name.length <= text.length + 1);
  return nearestNames(text, short, 1);
}

/**
 * The matches if each unknown word is replaced by the nearest word of a name, such as `sonet`. A word of up to four letters
 * is only replaced by one that a name begins with.
 */
function findCorrected(wanted: string, own: readonly Model[], models: readonly Model[]): string[] {
  const among = own.length > 0 ? own : models;
  const known = new Set(among.flatMap(({ id }) => getWords(id).filter((word) => word.length > 2 && !hasDigit(word))));
  const beginnings = new Set(among.flatMap(({ id }) => getWords(lastSegment(id))[0] ?? []));
  const words = getWords(wanted);
  const corrected = words.map((word) =>
    known.has(word) || hasDigit(word)
      ? word
      : (findSimilar(
          word,
          [...known].filter((other) => word.length > 4 || beginnings.has(other)),
        )[0] ?? word),
  );
  if (corrected.every((word, index) => word === words[index])) return [];
  return bestMatches(corrected.join(" "), among, {}).slice(0, 3).map(getReference);
}

/** A hint if only the suffix is wrong, because it is not a thinking level. */
function describeWrongLevel(text: string, models: readonly Model[]): string {
  const colon = text.lastIndexOf(":");
  if (colon < 0 || splitThinking(text) || !(findExact(text.slice(0, colon), models) || hasWrongLevel(text, models)))
    return "";
  return ` ${JSON.stringify(text.slice(colon + 1))} is not a thinking level. The levels are ${thinkingLevels.join(", ")}.`;
}
