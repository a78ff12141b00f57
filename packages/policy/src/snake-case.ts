/** Names in snake_case, for formats that other programs write so. Pure. */
import { isRecord } from "@tau/ai/internal";

type SnakeCaseName<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCaseName<Rest>}`
  : Name;

/** An object with its names in snake_case, also those of the objects in `Nested`. */
export type SnakeCase<T, Nested extends keyof T = never> = {
  readonly [K in keyof T as SnakeCaseName<K & string>]: K extends Nested ? SnakeCase<NonNullable<T[K]>> : T[K];
};

const toSnakeCase = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** `value` with those of `names` in camelCase that it has in snake_case. A name that it has in both forms stays as it is. */
export function renameSnakeCase(value: unknown, names: readonly string[]): unknown {
  if (!isRecord(value) || !Object.keys(value).some((name) => name.includes("_"))) return value;
  const known = new Map(names.map((name) => [toSnakeCase(name), name]));
  const rename = (name: string) => {
    const camelCase = known.get(name);
    return camelCase === undefined || Object.hasOwn(value, camelCase) ? name : camelCase;
  };
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [rename(name), inner]));
}
