/**
 * Readers for the fields of a file that a person writes: each takes what is right and reports what is not, so that one
 * mistake costs one field. What is reported never repeats a value: it may be a key.
 */
import { didYouMean } from "@tau/ai";
import type { Node } from "jsonc-parser";

export type Path = readonly (string | number)[];

export type Report = (node: Node, path: Path, message: string) => void;

/** Undefined for what cannot be used; it has been reported. */
export type Reader<T> = (node: Node, path: Path, report: Report) => T | undefined;

/** A reader for each field of `T`. */
export type Fields<T> = { readonly [Name in keyof T]-?: Reader<NonNullable<T[Name]>> };

/** A value that passes `accepts`; `expected` says what that is, as in "a number above 0". */
function scalar<T>(expected: string, accepts: (value: unknown) => value is T): Reader<T> {
  return (node, path, report) => {
    const value: unknown = node.value;
    if (node.type !== "object" && node.type !== "array" && accepts(value)) return value;
    report(node, path, `This must be ${expected}, and is ${getKind(node)}. It is left out.`);
    return undefined;
  };
}

function getKind({ type, value }: Node): string {
  if (type === "string") return value === "" ? "an empty text" : "a text";
  if (type === "number") return `the number ${String(value)}`;
  if (type === "boolean") return String(value);
  return type === "null" ? "null" : type === "array" ? "a list" : "an object";
}

export const text = scalar(
  "a text that is not empty",
  (value): value is string => typeof value === "string" && value.trim() !== "",
);
export const flag = scalar("true or false", (value) => typeof value === "boolean");
export const tokens = scalar(
  "a whole number above 0",
  (value): value is number => typeof value === "number" && Number.isSafeInteger(value) && value > 0,
);
export const price = scalar(
  "a price: a number, 0 or more",
  (value): value is number => typeof value === "number" && Number.isFinite(value) && value >= 0,
);
export const word = scalar(
  "a text or null",
  (value): value is string | null => value === null || typeof value === "string",
);

export const oneOf = <T extends string>(...words: readonly T[]): Reader<T> =>
  scalar(words.map((each) => JSON.stringify(each)).join(" or "), (value): value is T => words.includes(value as T));

/** An address for requests. It may have `{NAME}` in it, which the environment fills. */
export const url: Reader<string> = (node, path, report) => {
  const written = text(node, path, report);
  if (written === undefined) return undefined;
  const filled = written.replace(/\{[A-Za-z_][A-Za-z0-9_]*\}/g, "x");
  if (/^https?:\/\//i.test(filled) && URL.canParse(filled)) return written;
  report(node, path, "This must be an address that begins with http:// or https://. It is left out.");
  return undefined;
};

/** What cannot be read is left out of the list. */
export const toList =
  <T>(item: Reader<T>): Reader<T[]> =>
  (node, path, report) => {
    if (node.type !== "array") {
      report(node, path, `This must be a list, and is ${getKind(node)}. It is left out.`);
      return undefined;
    }
    return (node.children ?? []).flatMap((child, at) => {
      const value = item(child, [...path, at], report);
      return value === undefined ? [] : [value];
    });
  };

/** Any names, each with the same kind of value. */
export const mapSetting =
  <T>(item: Reader<T>): Reader<Map<string, T>> =>
  (node, path, report) => {
    const properties = getProperties(node, path, report);
    if (!properties) return undefined;
    const map = new Map<string, T>();
    for (const [name, { value }] of properties) {
      const read = item(value, [...path, name], report);
      if (read !== undefined) map.set(name, read);
    }
    return map;
  };

/** Any JSON below an object, as it is. */
export const anyObject =
  (getValue: (node: Node) => unknown): Reader<Record<string, unknown>> =>
  (node, path, report) =>
    getProperties(node, path, report) && (getValue(node) as Record<string, unknown>);

/** Fields with names. `unused` are names that are no mistake, with why nothing comes of them. */
export const object =
  <T extends object>(fields: Fields<T>, unused: Readonly<Record<string, string>> = {}): Reader<Partial<T>> =>
  (node, path, report) => {
    const properties = getProperties(node, path, report);
    if (!properties) return undefined;
    const readers = new Map<string, Reader<unknown>>(Object.entries(fields));
    const values: [string, unknown][] = [];
    for (const [name, { key, value }] of properties) {
      const reader = readers.get(name);
      if (reader) {
        const read = reader(value, [...path, name], report);
        if (read !== undefined) values.push([name, read]);
      } else if (Object.hasOwn(unused, name)) {
        if (unused[name] !== "") report(key, [...path, name], unused[name]!);
      } else report(key, [...path, name], `There is no such field.${didYouMean(name, [...readers.keys()])}`);
    }
    return Object.fromEntries(values) as Partial<T>;
  };

function getProperties(node: Node, path: Path, report: Report): Map<string, { key: Node; value: Node }> | undefined {
  if (node.type !== "object") {
    report(node, path, `This must be an object, and is ${getKind(node)}. It is left out.`);
    return undefined;
  }
  const found = new Map<string, { key: Node; value: Node }>();
  for (const { children: [key, value] = [] } of node.children ?? []) {
    if (!key || !value) continue;
    const name = String(key.value);
    if (found.has(name)) report(key, [...path, name], "This is here twice. The last one counts.");
    found.set(name, { key, value });
  }
  return found;
}

/** As people write it: `providers.ollama.models[0].id`. */
export const getKey = (path: Path): string =>
  path.reduce<string>((key, step) => {
    if (typeof step === "number") return `${key}[${step}]`;
    if (!/^[A-Za-z_$][\w$-]*$/.test(step)) return `${key}[${JSON.stringify(step)}]`;
    return key === "" ? step : `${key}.${step}`;
  }, "");
