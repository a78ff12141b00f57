/** What counts: the project's settings over the person's over the defaults. Pure. */
import { isRecord } from "@tau/ai";
import { type SettingNode, type Settings, type SettingsInput, settingsTable } from "./schema.ts";
import type { SettingsPlace } from "./shape.ts";

/** What one file says, and where it stands. */
export interface SettingsLayer {
  readonly values: SettingsInput;
  readonly place: SettingsPlace;
}

/**
 * Fills in everything; a later layer wins. Objects are merged, lists replaced, and null is the default again, whatever
 * the layers below say. The outcome is frozen and shares nothing with the layers.
 */
export const resolveSettings = (layers: readonly SettingsLayer[]): Settings =>
  frozen(resolveNode(settingsTable, layers)) as Settings;

interface Layer {
  readonly values: unknown;
  readonly place: SettingsPlace;
}

function resolveNode(node: SettingNode, layers: readonly Layer[]): unknown {
  switch (node.kind) {
    case "setting": {
      const top = layers.findLast(({ values }) => values !== undefined);
      if (!top || top.values === null) return node.default;
      return node.shape.settle ? node.shape.settle(top.values, top.place) : top.values;
    }
    case "group": {
      const names = Object.entries(node.fields);
      return Object.fromEntries(names.map(([name, field]) => [name, resolveNode(field, within(layers, name))]));
    }
    case "map": {
      const after = layers.slice(layers.findLastIndex(({ values }) => values === null) + 1);
      const names = new Set(after.flatMap(({ values }) => (isRecord(values) ? Object.keys(values) : [])));
      const entries = [...names].map((name) => [name, chosen(node.of, within(after, name))] as const);
      return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
    }
  }
}

/** Like `resolveNode`, with nothing filled in: undefined for what no layer chooses. */
function chosen(node: SettingNode, layers: readonly Layer[]): unknown {
  const since = layers.slice(layers.findLastIndex(({ values }) => values === null) + 1);
  if (since.every(({ values }) => values === undefined)) return undefined;
  if (node.kind !== "group") return resolveNode(node, since);
  const names = Object.entries(node.fields);
  const entries = names.map(([name, field]) => [name, chosen(field, within(since, name))] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

const within = (layers: readonly Layer[], name: string): Layer[] =>
  layers.map(({ values, place }) => ({
    values: isRecord(values) && Object.hasOwn(values, name) ? values[name] : undefined,
    place,
  }));

/** A frozen copy. */
export function frozen(value: unknown): unknown {
  if (Array.isArray(value)) return Object.freeze(value.map(frozen));
  if (!isRecord(value)) return value;
  return Object.freeze(Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, frozen(inner)])));
}
