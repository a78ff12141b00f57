/** From what somebody typed to a model: `provider/id:thinking`, or any part of it that leaves no doubt. Pure. */
import { clampThinkingLevel, type Model, type ModelThinkingLevel, nearestNames, parseThinkingLevel } from "@tau/ai";
import { bestMatches, type Preference } from "./match.ts";
import { hasDigit, getWords } from "./names.ts";

export interface ResolvePreference extends Preference {
  /** A model that is not listed, where a provider serves any id. Default: none does. */
  unlisted?: (provider: string, id: string) => Model | undefined;
  /** The id of the model for a provider that was named alone. Default: none. */
  getDefault?: (provider: string) => string | undefined;
}

export type ModelResolution =
  | {
      kind: "resolved";
      model: Model;
      /** As asked for, within what the model can do. Absent when nothing was asked for. */
      thinkingLevel?: ModelThinkingLevel;
      /** Set when the model cannot think at this level. */
      askedThinkingLevel?: ModelThinkingLevel;
      /** False when it was found by a part of its name: worth telling the person. */
      exact: boolean;
      /** False when its provider cannot be used as things are. */
      hasKey: boolean;
    }
  | { kind: "ambiguous"; candidates: Model[]; message: string }
  | { kind: "not_found"; nearest: string[]; message: string };

/** Splits `head:level`. Undefined when what follows the last colon is no thinking level. */
export function splitThinking(text: string): { head: string; level: ModelThinkingLevel } | undefined {
  const colon = text.lastIndexOf(":");
  const level =
    colon <= 0
      ? undefined
      : parseThinkingLevel(
          text
            .slice(colon + 1)
            .trim()
            .toLowerCase(),
        );
  return level && { head: text.slice(0, colon).trim(), level };
}

export const getReference = ({ provider, id }: Model): string => `${provider}/${id}`;

/**
 * Ids may hold slashes and colons, so the longest reading that is the name of a model wins: the whole text as
 * `provider/id` or as an id, then the same without a thinking level, then the nearest of the names.
 */
export function resolveModel(
  spec: string,
  models: readonly Model[],
  preference: ResolvePreference = {},
): ModelResolution {
  const text = spec.trim();
  const split = splitThinking(text);
  const readings = [{ head: text, level: undefined }, ...(split ? [split] : [])];
  for (const { head, level } of readings) {
    const model = namedExactly(head, models);
    if (model) return resolved(model, level, head, preference);
  }
  for (const { head, level } of readings.toReversed()) {
    const found = findNearest(head, models, preference);
    if (found.length === 1) return resolved(found[0]!, level, head, preference);
    if (found.length > 1) return ambiguous(text, found);
  }
  return notFound(text, models);
}

function resolved(
  model: Model,
  level: ModelThinkingLevel | undefined,
  head: string,
  { hasKey = () => true }: Preference,
): ModelResolution {
  const exact = [model.id, getReference(model)].some((name) => name.toLowerCase() === head.toLowerCase());
  const found = { kind: "resolved" as const, model, exact, hasKey: hasKey(model.provider) };
  if (level === undefined) return found;
  const thinkingLevel = clampThinkingLevel(model, level);
  return { ...found, thinkingLevel, ...(thinkingLevel !== level && { askedThinkingLevel: level }) };
}

const namedExactly = (text: string, models: readonly Model[]) => models.find((model) => getReference(model) === text);

function findNearest(text: string, models: readonly Model[], preference: ResolvePreference): Model[] {
  const slash = text.indexOf("/");
  if (slash <= 0) return findBare(text, models, preference);
  const [provider, id] = [text.slice(0, slash), text.slice(slash + 1)];
  const own = ofProvider(provider, models);
  if (own.length > 0 && id === "") return defaultAmong(own, preference);
  const found = own.length > 0 ? bestMatches(id, own, {}) : [];
  if (found.length > 0) return found;
  const unlisted = id === "" ? undefined : preference.unlisted?.(provider.toLowerCase(), id);
  if (unlisted) return [unlisted];
  // Gateways put the maker into the id, and the maker may be a provider too: `openai/gpt-oss-120b`.
  const gateways = own.length > 0 ? models.filter((model) => model.id.toLowerCase() === text.toLowerCase()) : models;
  return bestMatches(text, gateways, preference);
}

/** The name of a provider stands for its usual model, unless it cannot be used and somebody else has one of that name. */
function findBare(text: string, models: readonly Model[], preference: ResolvePreference): Model[] {
  const { hasKey = () => true } = preference;
  const alone = ofProvider(text, models);
  if (alone.length > 0 && hasKey(alone[0]!.provider)) return defaultAmong(alone, preference);
  const found = bestMatches(text, models, preference);
  return alone.length === 0 || (found[0] && hasKey(found[0].provider)) ? found : defaultAmong(alone, preference);
}

const ofProvider = (name: string, models: readonly Model[]) =>
  models.filter(({ provider }) => provider.toLowerCase() === name.toLowerCase());

function defaultAmong(own: Model[], { getDefault }: ResolvePreference): Model[] {
  const id = getDefault?.(own[0]!.provider);
  const usual = own.find((model) => model.id === id);
  return usual ? [usual] : own.length === 1 ? own : [];
}

/** More is a list that nobody reads. */
const maxListed = 8;

function ambiguous(text: string, candidates: Model[]): ModelResolution {
  const shown = candidates.slice(0, maxListed).map(getReference).join(", ");
  const more = candidates.length > maxListed ? `, and ${candidates.length - maxListed} more` : "";
  return {
    kind: "ambiguous",
    candidates,
    message: `${JSON.stringify(text)} could be ${shown}${more}. Say which.`,
  };
}

function notFound(text: string, models: readonly Model[]): ModelResolution {
  if (text === "") return { kind: "not_found", nearest: [], message: "No model was named." };
  const slash = text.indexOf("/");
  const provider = text.slice(0, Math.max(0, slash)).toLowerCase();
  const own = models.filter((model) => model.provider.toLowerCase() === provider);
  const names = own.length > 0 ? own.map(getReference) : [...new Set(models.map(({ id }) => id))];
  const wanted = splitThinking(text)?.head ?? text;
  const spelled = nearestNames(wanted, names);
  const nearest = spelled.length > 0 ? spelled : respelled(wanted.slice(own.length > 0 ? slash + 1 : 0), own, models);
  const hint = nearest.length === 0 ? "" : ` Did you mean ${nearest.map((name) => JSON.stringify(name)).join(" or ")}?`;
  const added = own.length > 0 ? " A model that is newer than this list can be added in models.json." : "";
  const message = `There is no model ${JSON.stringify(wanted)}.${wrongLevel(text, models)}${hint}${added}`;
  return { kind: "not_found", nearest, message };
}

/** What comes of it when each unknown word is read as the nearest that occurs in a name: `sonet`. */
function respelled(wanted: string, own: readonly Model[], models: readonly Model[]): string[] {
  const among = own.length > 0 ? own : models;
  const known = new Set(among.flatMap(({ id }) => getWords(id).filter((word) => word.length > 2 && !hasDigit(word))));
  const words = getWords(wanted);
  const read = words.map((word) =>
    known.has(word) || hasDigit(word) ? word : (nearestNames(word, [...known])[0] ?? word),
  );
  if (read.every((word, at) => word === words[at])) return [];
  return bestMatches(read.join(" "), among, {}).slice(0, 3).map(getReference);
}

/** A suffix that is no level makes the whole name unknown; then the suffix is the mistake. */
function wrongLevel(text: string, models: readonly Model[]): string {
  const colon = text.lastIndexOf(":");
  if (colon <= 0 || splitThinking(text)) return "";
  const head = text.slice(0, colon);
  if (!namedExactly(head, models) && bestMatches(head, models, {}).length === 0) return "";
  return ` ${JSON.stringify(text.slice(colon + 1))} is no thinking level: they are off, minimal, low, medium, high, xhigh and max.`;
}
