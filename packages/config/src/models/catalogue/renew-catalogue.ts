/**
 * Renews the catalogue from facts that somebody else wrote. They may add models and change names, limits, prices and flags,
 * but nothing that decides where a key is sent.
 */
import type { Model } from "@tau/ai";
import { getBuiltinModels, getProviderInfo, toProviderId, tryParseJson } from "@tau/ai/internal";
import { type CatalogueModel, checkCatalogue } from "./check-catalogue.ts";

/**
 * Why the models may not be used, one sentence for each reason. Empty if they may. `known` are the provider's models in the
 * built-in catalogue, which say where its keys may be sent.
 */
export function findForeignTargets(
  provider: string,
  models: readonly CatalogueModel[],
  known: readonly Model[],
): string[] {
  if (known.length === 0) return [`tau has no provider ${JSON.stringify(provider)}.`];
  const apis = new Set(known.map(({ api }) => api));
  const targets = new Set(known.map(({ baseUrl }) => toTarget(baseUrl)));
  const variables = new Set(known.flatMap(({ baseUrl }) => listVariables(baseUrl)));
  const headers = new Set([
    ...known.flatMap((model) => Object.entries(model.headers ?? {}).map(formatHeader)),
    ...Object.entries(getProviderInfo(provider)?.headers ?? {}).map(formatHeader),
  ]);
  const problems = models.flatMap(({ api, baseUrl, headers: own = {} }) => {
    const foreignHeader = Object.entries(own).find((header) => !headers.has(formatHeader(header)));
    const foreignVariable = listVariables(baseUrl).find((name) => !variables.has(name));
    return [
      ...(apis.has(api) ? [] : [`tau does not use the API ${JSON.stringify(api)} with ${provider}.`]),
      ...(targets.has(toTarget(baseUrl))
        ? []
        : [`tau does not send keys of ${provider} to ${JSON.stringify(baseUrl)}.`]),
      ...(foreignVariable === undefined
        ? []
        : [`tau does not put the variable ${foreignVariable} into addresses of ${provider}.`]),
      ...(foreignHeader
        ? [`tau does not send the header ${JSON.stringify(foreignHeader[0])} to ${provider} like this.`]
        : []),
    ];
  });
  return [...new Set(problems)];
}

const formatHeader = ([name, value]: readonly [string, string]) => `${name.toLowerCase()}: ${value}`;

const placeholder = /\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

const listVariables = (baseUrl: string): string[] => [...baseUrl.matchAll(placeholder)].map(([, name]) => name!);

/**
 * Finds what an address has in common with others to which the same key may be sent. Two texts without a host are the
 * same only if equal.
 */
function toTarget(baseUrl: string): string {
  // A placeholder in the host is a part of its name.
  const parseable = baseUrl.replace(
    placeholder,
    (_all, name: string) => `var-${name.toLowerCase().replaceAll("_", "-")}`,
  );
  if (!URL.canParse(parseable)) return baseUrl;
  const { protocol, username, password, host } = new URL(parseable);
  return `${protocol}//${username}:${password}@${host}`;
}

export interface ChangedModel {
  provider: string;
  id: string;
  /** Each field that differs, as JSON; `undefined` for one that is absent. */
  changes: { field: string; before: string | undefined; after: string | undefined }[];
}

export interface CatalogueDifference {
  added: { provider: string; model: CatalogueModel }[];
  changed: ChangedModel[];
  unchanged: number;
}

/** Compares facts with the models that there are. */
function compareCatalogue(
  models: ReadonlyMap<string, readonly CatalogueModel[]>,
  find: (provider: string, id: string) => Model | undefined,
): CatalogueDifference {
  const difference: CatalogueDifference = { added: [], changed: [], unchanged: 0 };
  for (const [provider, entries] of models) {
    for (const model of entries) {
      const before = find(provider, model.id);
      const changes = before && !before.isRetired ? listChanges(before, model) : undefined;
      if (!changes) difference.added.push({ provider, model });
      else if (changes.length > 0) difference.changed.push({ provider, id: model.id, changes });
      else difference.unchanged++;
    }
  }
  return difference;
}

function listChanges({ provider: _provider, ...before }: Model, after: CatalogueModel): ChangedModel["changes"] {
  const [old, now] = [flatten(before), flatten(after)];
  return [...new Set([...old.keys(), ...now.keys()])]
    .filter((field) => old.get(field) !== now.get(field))
    .sort()
    .map((field) => ({ field, before: old.get(field), after: now.get(field) }));
}

/** The values by path, as JSON. Lists are values. */
function flatten(value: object, prefix = ""): Map<string, string> {
  return new Map(
    Object.entries(value).flatMap(([name, inner]: [string, unknown]) =>
      typeof inner === "object" && inner !== null && !Array.isArray(inner)
        ? [...flatten(inner, `${prefix}${name}.`)]
        : [[`${prefix}${name}`, JSON.stringify(inner)] as const],
    ),
  );
}

/** Describes what is in `catalogue.json` and in effect. */
interface StoredFacts {
  providers(): readonly string[];
  get(provider: string): ReadonlyMap<string, Model>;
}

export type RenewalPlan =
  | { kind: "refused"; problems: string[] }
  | {
      kind: "ready";
      difference: CatalogueDifference;
      notes: string[];
      /** The new content of `catalogue.json`: only what differs from the built-in catalogue. */
      text: string;
    };

/** Decides what facts in JSON change. They are refused as a whole, because half of them may not fit together. */
export function planRenewal(facts: string, stored: StoredFacts): RenewalPlan {
  const value = tryParseJson(facts);
  if (value === undefined) return { kind: "refused", problems: ["The catalogue is not JSON."] };
  const { models, problems, notes } = checkCatalogue(value);
  const byProvider = new Map([...models].map(([name, entries]) => [toProviderId(name), entries]));
  const foreign = [...byProvider].flatMap(([provider, entries]) =>
    findForeignTargets(provider, entries, getBuiltinModels(provider)),
  );
  if (problems.length + foreign.length > 0) return { kind: "refused", problems: [...problems, ...foreign] };
  const findNow = (provider: string, id: string) => stored.get(provider).get(id) ?? findBuiltin(provider, id);
  const merged = mergeFacts(stored, byProvider);
  const text = `${JSON.stringify(merged, undefined, 1)}\n`;
  return { kind: "ready", difference: compareCatalogue(byProvider, findNow), notes, text };
}

const findBuiltin = (provider: string, id: string): Model | undefined =>
  getBuiltinModels(provider).find((model) => model.id === id);

function mergeFacts(stored: StoredFacts, later: ReadonlyMap<string, readonly CatalogueModel[]>) {
  const merged: Record<string, CatalogueModel[]> = {};
  for (const provider of new Set([...stored.providers(), ...later.keys()])) {
    const earlier = [...stored.get(provider).values()].map(({ provider: _provider, ...model }) => model);
    const models = new Map([...earlier, ...(later.get(provider) ?? [])].map((model) => [model.id, model]));
    const builtin = new Map(getBuiltinModels(provider).map((model) => [model.id, model]));
    const different = [...models.values()].filter((model) => {
      const known = builtin.get(model.id);
      return !known || known.isRetired === true || listChanges(known, model).length > 0;
    });
    if (different.length > 0) merged[provider] = different;
  }
  return merged;
}
