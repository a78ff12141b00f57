/** Settings by their dotted names. Pure. */
import { didYouMean, isRecord, tryParseJson } from "@tau/ai/internal";
import { checkSettings, createSettingsTable } from "@tau/config/internal";
import { nestSetting, settingsSchema } from "@tau/config/settings";
import { allFeatures } from "@tau/features";
import { UsageError } from "../process/errors.ts";

interface Schema {
  type?: string | readonly string[];
  enum?: readonly unknown[];
  properties?: Readonly<Record<string, Schema>>;
  additionalProperties?: Schema | boolean;
  items?: Schema;
}

/** The schema of a setting. Throws `invalid_input`, with the nearest name, if there is no such setting. */
export function findSchema(key: string): Schema {
  let schema: Schema | undefined = settingsSchema(allFeatures) as Schema;
  for (const name of key.split(".")) {
    const inner: Schema | boolean | undefined = getOwn(schema?.properties, name) ?? schema?.additionalProperties;
    schema = typeof inner === "object" ? inner : undefined;
  }
  if (schema && key !== "") return schema;
  const hint = didYouMean(key, listSettings());
  const message = `There is no setting ${JSON.stringify(key)}.${hint} tau config get lists them all.`;
  throw new UsageError("invalid_input", message);
}

const getOwn = <T>(record: Readonly<Record<string, T>> | undefined, name: string): T | undefined =>
  record && Object.hasOwn(record, name) ? record[name] : undefined;

export function listSettings(
  { properties = {} }: Schema = settingsSchema(allFeatures) as Schema,
  prefix = "",
): string[] {
  return Object.entries(properties).flatMap(([name, inner]) => [
    ...(name === "$schema" ? [] : [`${prefix}${name}`]),
    ...listSettings(inner, `${prefix}${name}.`),
  ]);
}

/** The values of a setting that has only a few; otherwise none. */
export function listChoices(key: string): string[] {
  const { type = [], enum: choices = [] } = findSchema(key);
  return type.includes("boolean") ? ["true", "false"] : choices.filter((choice) => typeof choice === "string");
}

/** How a list or an object is typed, as a sentence with an example. Undefined for other settings. */
export function describeTyping(key: string): string | undefined {
  const { type = [], items, additionalProperties } = findSchema(key);
  const types = typeof type === "string" ? [type] : type;
  const toWords = (value: unknown) => `For example: tau config set ${key} '${JSON.stringify(value)}'`;
  if (types.includes("array")) return toWords(getExample(items, ["one", "two"]));
  if (types.includes("object") && typeof additionalProperties === "object") {
    return toWords({ name: getExample(additionalProperties, ["value"])[0] });
  }
  return undefined;
}

function getExample({ type = "string", enum: choices }: Schema = {}, texts: readonly string[]): readonly unknown[] {
  if (choices !== undefined) return choices.slice(0, 2);
  if (type.includes("number") || type.includes("integer")) return [1, 2];
  return type.includes("object") ? [{}] : texts;
}

/** Parses JSON, and takes everything else as text, also what fits the setting only as text: a number needs no quotes. */
export function parseValue(key: string, text: string): unknown {
  findSchema(key);
  const value = tryParseJson(text);
  if (value === undefined) return text;
  const table = createSettingsTable(allFeatures);
  const fits = (written: unknown) =>
    checkSettings(nestSetting(key, written), { trusted: true, table }).errors.length === 0;
  return fits(value) || !fits(text) ? value : text;
}

export const getSetting = (settings: object, key: string): unknown =>
  key.split(".").reduce<unknown>((value, name) => (isRecord(value) ? getOwn(value, name) : undefined), settings);

/** Every setting with its dotted name. */
export function toRows(settings: object, prefix = ""): { name: string; value: unknown }[] {
  return Object.entries(settings).flatMap(([name, value]: [string, unknown]) =>
    isRecord(value) && Object.keys(value).length > 0
      ? toRows(value, `${prefix}${name}.`)
      : [{ name: `${prefix}${name}`, value }],
  );
}
