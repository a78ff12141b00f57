/** Settings that have a counterpart here. */
import { isRecord } from "@tau/ai/internal";
import { nestSetting } from "../settings/nest.ts";
import type { SettingNode } from "../settings/node.ts";
import { checkSettings } from "../settings/check.ts";
import { ignoredSettings } from "../settings/pi-settings.ts";
import { settingsTable } from "../settings/schema.ts";
import { createItems, none } from "./common.ts";
import type { FoundItem, ImportTool } from "./found-item.ts";

/** A setting by its dotted name, if its value is valid here. */
export function toSetting(
  { tool, path, name }: { tool: ImportTool; path: string; name: string },
  key: string,
  value: unknown,
): FoundItem {
  const create = createItems(tool, path);
  const { errors } = checkSettings(nestSetting(key, value), { trusted: true });
  if (errors.length > 0) return create("settings", name, none("has a value that tau does not know"));
  return create("settings", name, { kind: "set", key, value });
}

/** Settings with our own names, as pi has them: each that has a counterpart, and the others with the reason. */
export function findOwnSettings(
  tool: ImportTool,
  path: string,
  values: Readonly<Record<string, unknown>>,
  { skips = [] }: { skips?: readonly string[] } = {},
): FoundItem[] {
  const create = createItems(tool, path);
  const visit = (names: readonly string[], node: SettingNode | undefined, value: unknown): FoundItem[] => {
    const key = names.join(".");
    if (Object.hasOwn(ignoredSettings, key))
      return [create("settings", key, none(`has no effect: ${ignoredSettings[key]}`))];
    if (!node) return [create("settings", key, none("has no counterpart here"))];
    if (node.kind !== "group" || !isRecord(value)) return [toSetting({ tool, path, name: key }, key, value)];
    return Object.entries(value).flatMap(([name, inner]) =>
      visit([...names, name], getField(node.fields, name), inner),
    );
  };
  return Object.entries(values)
    .filter(([name]) => name !== "$schema" && !skips.includes(name))
    .flatMap(([name, value]) => visit([name], getField(settingsTable.fields, name), value));
}

const getField = (fields: Readonly<Record<string, SettingNode>>, name: string): SettingNode | undefined =>
  Object.hasOwn(fields, name) ? fields[name] : undefined;
