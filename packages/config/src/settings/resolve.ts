/** Merges settings: the project's over the user's over the defaults. Pure. */
import { deepFreeze, isRecord } from "@tau/ai/internal";
import { type Fields, group, type SettingNode } from "./node.ts";
import { policySettings } from "./policy-settings.ts";
import {
  type ResolvedFields,
  type Restrictions,
  type Settings,
  type SettingsInput,
  type SettingsTable,
  settingsTable,
} from "./schema.ts";
import type { SettingsLocation } from "./shape.ts";

/** The settings of one file. */
export interface SettingsLayer<Values = SettingsInput> {
  readonly values: Values;
  readonly location: SettingsLocation;
  /** Whether they are those of a project. Default false. */
  readonly isProject?: boolean;
}

/**
 * Fills in every setting; a later layer wins. Objects are merged, lists replaced, and null stands for the default,
 * whatever the earlier layers say. What a project sets to restrict is left out. The result is frozen and
 * shares nothing with the layers.
 */
export const resolveSettings = (layers: readonly SettingsLayer[], table: SettingsTable = settingsTable): Settings =>
  toFrozen(resolveNode(table, layers) as Settings);

/** Fills in the settings of a feature: those that are in `settings`, else their defaults. */
export const resolveFields = <F extends Fields>(fields: F, settings: object): ResolvedFields<F> => {
  const known = settings as Readonly<Record<string, unknown>>;
  const names = Object.keys(fields);
  const missing = names.filter((name) => !Object.hasOwn(known, name));
  const defaults = Object.fromEntries(missing.map((name) => [name, resolveNode(fields[name]!, [])]));
  return { ...Object.fromEntries(names.map((name) => [name, known[name]])), ...defaults } as ResolvedFields<F>;
};

/** Resolves what the project sets to restrict. A setting that it does not have is absent. Frozen. */
export function resolveRestrictions(layers: readonly SettingsLayer[]): Restrictions {
  const own = layers.flatMap(({ isProject, ...layer }) => (isProject ? [layer] : []));
  return toFrozen((resolveGiven(group("Restrictions.", policySettings), own) ?? {}) as Restrictions);
}

/**
 * Resolves what these layers have of one setting, without a default and with absolute paths. Frozen; undefined if none has
 * it.
 */
export function resolveGivenSetting<Name extends keyof Settings>(
  layers: readonly SettingsLayer[],
  name: Name,
): Settings[Name] | undefined {
  const value = resolveGiven(settingsTable.fields[name], getField(layers, name));
  const isObject = typeof value === "object" && value !== null;
  return (isObject ? toFrozen(value) : value) as Settings[Name] | undefined;
}

/** Both inputs as one: what `over` has wins, inside of objects too. */
export function mergeInputs(under: unknown, over: unknown): unknown {
  if (!isRecord(under) || !isRecord(over)) return over;
  const merged = Object.entries(over).map(([name, value]) => [name, mergeInputs(under[name], value)] as const);
  return { ...under, ...Object.fromEntries(merged) };
}

type Layer = SettingsLayer<unknown>;

function resolveNode(node: SettingNode, all: readonly Layer[]): unknown {
  const isRestriction = node.kind !== "group" && node.project === "to restrict";
  const layers = isRestriction ? all.filter(({ isProject }) => !isProject) : all;
  switch (node.kind) {
    case "setting": {
      const top = layers.findLast(({ values }) => values !== undefined);
      if (!top || top.values === null) return node.default;
      return node.shape.resolve ? node.shape.resolve(top.values, top.location) : top.values;
    }
    case "group": {
      const names = Object.entries(node.fields);
      return Object.fromEntries(names.map(([name, field]) => [name, resolveNode(field, getField(layers, name))]));
    }
    case "map": {
      const after = layers.slice(layers.findLastIndex(({ values }) => values === null) + 1);
      const names = new Set(after.flatMap(({ values }) => (isRecord(values) ? Object.keys(values) : [])));
      const entries = [...names].map((name) => [name, resolveGiven(node.of, getField(after, name))] as const);
      return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
    }
  }
}

/** Like `resolveNode` without defaults: undefined for a setting that is in no layer. */
function resolveGiven(node: SettingNode, layers: readonly Layer[]): unknown {
  const since = layers.slice(layers.findLastIndex(({ values }) => values === null) + 1);
  if (since.every(({ values }) => values === undefined)) return undefined;
  if (node.kind !== "group") return resolveNode(node, since);
  const names = Object.entries(node.fields);
  const entries = names.map(([name, field]) => [name, resolveGiven(field, getField(since, name))] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

/** The layers that have a field, each with its value. */
const getField = (layers: readonly Layer[], name: string): Layer[] =>
  layers.flatMap((layer) =>
    isRecord(layer.values) && Object.hasOwn(layer.values, name) ? [{ ...layer, values: layer.values[name] }] : [],
  );

/** A frozen copy. */
export const toFrozen = <T extends object>(value: T): T => deepFreeze(structuredClone(value));
