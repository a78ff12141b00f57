/** The setting `apiKeys`: its values are secrets, and are shown nowhere. */
import { isRecord } from "@tau/ai/internal";
import { parseKey } from "../auth/key-value.ts";
import { formatKeyName } from "../models/key-ring.ts";
import type { Settings } from "./schema.ts";

type WithKeys = Pick<Settings, "apiKeys">;

/** All written values that are or name keys: those of `models.json` and those of the settings. */
export function createWrittenValues(
  registry: { writtenValues(): readonly string[] },
  getSettings: () => WithKeys,
): () => readonly string[] {
  let last: { ofModels: readonly string[]; apiKeys: WithKeys["apiKeys"]; all: readonly string[] } | undefined;
  return () => {
    const [ofModels, { apiKeys }] = [registry.writtenValues(), getSettings()];
    // The same list as long as nothing has changed: it is asked for with each event.
    if (last?.ofModels !== ofModels || last.apiKeys !== apiKeys) {
      last = { ofModels, apiKeys, all: [...ofModels, ...Object.values(apiKeys).flat()] };
    }
    return last.all;
  };
}

/** The settings with names instead of keys. Variables stay, since their names are no secrets. */
export function hideKeys<T extends object>(settings: T): T {
  if (!("apiKeys" in settings) || !isRecord(settings.apiKeys)) return settings;
  const hidden = Object.entries(settings.apiKeys).map(([provider, keys]) => [provider, hideWritten(keys)] as const);
  return { ...settings, apiKeys: Object.fromEntries(hidden) };
}

/** The value of a setting as it may be shown; `key` is its dotted name. */
export function hideValue(key: string, value: unknown): unknown {
  if (key === "apiKeys") return isRecord(value) ? hideKeys({ apiKeys: value }).apiKeys : value;
  return key.startsWith("apiKeys.") ? hideWritten(value) : value;
}

function hideWritten(written: unknown): unknown {
  if (Array.isArray(written)) return written.map(hideWritten);
  if (typeof written !== "string") return written;
  const template = parseKey(written);
  const isLiteral = template.kind === "parts" && template.parts.some((part) => part.kind === "text");
  return isLiteral ? formatKeyName(written) : written;
}
