/** Settings by their names with dots. Pure. */
import { isRecord } from "@tau/ai";
import { didYouMean } from "@tau/ai";
import { HarnessError } from "@tau/harness";
import { settingsSchema } from "@tau/harness/settings";

interface Schema {
  type?: string | readonly string[];
  properties?: Readonly<Record<string, Schema>>;
  additionalProperties?: Schema | boolean;
}

/** What a setting may be. Throws `invalid_input`, with the nearest name, where there is no such setting. */
export function schemaAt(key: string): Schema {
  const schema = settingsSchema() as Schema;
  let node: Schema | undefined = schema;
  for (const name of key.split(".")) {
    const inner: Schema | boolean | undefined = own(node?.properties, name) ?? node?.additionalProperties;
    node = typeof inner === "object" ? inner : undefined;
  }
  if (node && key !== "") return node;
  const hint = didYouMean(key, getNames(schema));
  throw new HarnessError(
    "invalid_input",
    `There is no setting ${JSON.stringify(key)}.${hint} tau config get lists them all.`,
  );
}

const own = <T>(record: Readonly<Record<string, T>> | undefined, name: string): T | undefined =>
  record && Object.hasOwn(record, name) ? record[name] : undefined;

export function getNames({ properties = {} }: Schema = settingsSchema() as Schema, path = ""): string[] {
  return Object.entries(properties).flatMap(([name, inner]) => [
    ...(name === "$schema" ? [] : [`${path}${name}`]),
    ...getNames(inner, `${path}${name}.`),
  ]);
}

/** JSON where it is, else a text; what can only be a text needs no quotes, whatever it looks like. */
export function readValue(key: string, written: string): unknown {
  const { type } = schemaAt(key);
  const types = typeof type === "string" ? [type] : (type ?? []);
  const isText = types.length > 0 && types.every((one) => one === "string" || one === "null");
  try {
    const value: unknown = JSON.parse(written);
    return isText && typeof value !== "string" && value !== null ? written : value;
  } catch (error) {
    if (error instanceof SyntaxError) return written;
    throw error;
  }
}

export const at = (settings: object, key: string): unknown =>
  key.split(".").reduce<unknown>((value, name) => (isRecord(value) ? own(value, name) : undefined), settings);

export const nest = (key: string, value: unknown): object =>
  key.split(".").reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as object;

/** Every setting by its whole name. */
export function toRows(settings: object, path = ""): { name: string; value: unknown }[] {
  return Object.entries(settings).flatMap(([name, value]: [string, unknown]) =>
    isRecord(value) && Object.keys(value).length > 0
      ? toRows(value, `${path}${name}.`)
      : [{ name: `${path}${name}`, value }],
  );
}
