/** All settings with their values, for whoever shows them. Pure. */
import { isRecord, withoutUndefined } from "@tau/ai/internal";
import type { SettingData } from "@tau/protocol";
import type { SettingNode } from "./node.ts";
import type { Settings, SettingsInput, SettingsTable } from "./schema.ts";

interface SettingsByOrigin {
  /** The settings that apply. */
  settings: Settings;
  /** In the user's own file. */
  global: SettingsInput;
  /** In the project's files. */
  project: SettingsInput;
  /** For this run alone. */
  run: SettingsInput;
}

/** In the order of the table. */
export const describeSettings = (table: SettingsTable, values: SettingsByOrigin): SettingData[] =>
  describe(table, [], values);

function describe(node: SettingNode, path: readonly string[], values: SettingsByOrigin): SettingData[] {
  if (node.kind === "group") {
    return Object.entries(node.fields).flatMap(([name, field]) => describe(field, [...path, name], values));
  }
  const own = getAt(values.global, path);
  const isInProject = getAt(values.project, path) !== undefined;
  const isInRun = getAt(values.run, path) !== undefined;
  const isMap = node.kind === "map";
  return [
    {
      key: path.join("."),
      description: isMap ? `${node.description} By ${node.by}.` : node.description,
      type: isMap ? "object" : node.shape.type,
      origin: isInRun ? "run" : isInProject ? "project" : own === undefined ? "default" : "global",
      ...withoutUndefined({
        choices: isMap ? undefined : listChoices(node.shape.schema),
        value: getAt(values.settings, path),
        default: isMap ? {} : node.default,
        own,
      }),
    },
  ];
}

/** Undefined if there are too many to list. */
function listChoices({ type, enum: choices }: Readonly<Record<string, unknown>>): SettingData["choices"] {
  if (type === "boolean") return [true, false];
  return Array.isArray(choices) ? (choices as NonNullable<SettingData["choices"]>) : undefined;
}

const getAt = (settings: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>((value, name) => (isRecord(value) ? value[name] : undefined), settings);
