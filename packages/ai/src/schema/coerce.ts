/**
 * Corrects common errors of models in arguments: a number in quotes, JSON in a string, a single value instead of an
 * array. Only values that do not match the schema are changed. The result may still be invalid; the validator decides.
 */
import { Check } from "#schema-engine";
import type { JsonSchema } from "../context.ts";
import { asArray, asRecord, isRecord, setOwnProperty, tryParseJson } from "../json.ts";
import { findByPointer } from "./pointer.ts";

/** Deeper values are rejected. */
const maxValueDepth = 64;

interface Coercion {
  /** The schema. Its references start with `rootId`, so that each part of it can be checked separately. */
  readonly root: JsonSchema;
  /** The value is already valid, so only defaults are filled in. */
  readonly onlyDefaults: boolean;
  /** The remaining attempts at union members. Without a limit, recursive unions would multiply them. */
  remainingAttempts: number;
}

const rootId = "urn:tau:root";
const maxAttempts = 1_000;

/** A value may pass several schemas at each level. */
const maxSchemaDepth = 8 * maxValueDepth;

/**
 * Returns a function that fills in the defaults of the schema and, unless `isValid` is true, corrects values that do
 * not match. It changes the value in place.
 */
export function createCoercion(schema: JsonSchema): (value: unknown, isValid: boolean) => unknown {
  const root = JSON.parse(JSON.stringify(schema), (key, value: unknown) =>
    key === "$ref" && typeof value === "string" && value.startsWith("#") ? rootId + value : value,
  ) as JsonSchema;
  delete root["$id"];
  return (value, isValid) => coerce({ root, onlyDefaults: isValid, remainingAttempts: maxAttempts }, root, value, 0);
}

/** `depth` is the number of enclosing schemas. It is limited because references may be circular. */
function coerce(coercion: Coercion, schema: unknown, value: unknown, depth: number): unknown {
  if (!isRecord(schema) || depth > maxSchemaDepth) return value;
  let coerced = coercion.onlyDefaults ? value : coerceType(schema, value);
  if (schema["$ref"] !== undefined) {
    coerced = coerce(coercion, resolve(coercion.root, schema["$ref"]), coerced, depth + 1);
  }
  for (const member of asArray(schema["allOf"])) coerced = coerce(coercion, member, coerced, depth + 1);
  for (const union of [schema["anyOf"], schema["oneOf"]]) {
    if (union !== undefined) coerced = coerceUnion(coercion, asArray(union), coerced, depth + 1);
  }
  if (Array.isArray(coerced)) coerceItems(coercion, schema, coerced, depth + 1);
  else if (isRecord(coerced)) coerceProperties(coercion, schema, coerced, depth + 1);
  return coerced;
}

/** Uses the first member that accepts the value unchanged, else the first that accepts the value after coercion. */
function coerceUnion(coercion: Coercion, union: unknown[], value: unknown, depth: number): unknown {
  const match = union.find((member) => accepts(coercion, member, value));
  if (match !== undefined) return coerce(coercion, match, value, depth);
  if (coercion.onlyDefaults) return value;
  for (const member of union) {
    if (coercion.remainingAttempts-- <= 0) return value;
    const attempt = coerce(coercion, member, copyValue(value).copy, depth);
    if (accepts(coercion, member, attempt)) return attempt;
  }
  return value;
}

function coerceItems(coercion: Coercion, schema: JsonSchema, items: unknown[], depth: number): void {
  const prefixItems = asArray(schema["prefixItems"]);
  items.forEach((item, index) => {
    items[index] = coerce(coercion, prefixItems[index] ?? schema["items"], item, depth);
  });
}

function coerceProperties(
  coercion: Coercion,
  schema: JsonSchema,
  object: Record<string, unknown>,
  depth: number,
): void {
  const properties = asRecord(schema["properties"]);
  const required = asArray(schema["required"]);
  for (const [name, property] of Object.entries(properties)) {
    const value = Object.hasOwn(object, name) ? object[name] : undefined;
    if (value === undefined) {
      const fallback = asRecord(property)["default"];
      if (fallback !== undefined) setOwnProperty(object, name, copyValue(fallback).copy);
    } else if (
      value === null &&
      !coercion.onlyDefaults &&
      !required.includes(name) &&
      !accepts(coercion, property, null)
    ) {
      delete object[name];
    } else {
      setOwnProperty(object, name, coerce(coercion, property, value, depth));
    }
  }
  const patterns = Object.entries(asRecord(schema["patternProperties"]));
  const { additionalProperties } = schema;
  if (patterns.length === 0 && !isRecord(additionalProperties)) return;
  for (const name of Object.keys(object)) {
    if (Object.hasOwn(properties, name)) continue;
    const matching = patterns.filter(([pattern]) => new RegExp(pattern, "u").test(name)).map(([, inner]) => inner);
    for (const inner of matching.length > 0 ? matching : [additionalProperties]) {
      setOwnProperty(object, name, coerce(coercion, inner, object[name], depth));
    }
  }
}

const accepts = ({ root }: Coercion, schema: unknown, value: unknown): boolean =>
  (isRecord(schema) || typeof schema === "boolean") && Check({ [rootId]: root }, schema, withoutPrototypes(value));

/** The schema that a reference points to. Only JSON pointers are supported; other references are not coerced. */
function resolve(root: JsonSchema, reference: unknown): unknown {
  if (typeof reference !== "string" || !reference.startsWith(`${rootId}#`)) return undefined;
  return findByPointer(root, reference.slice(rootId.length));
}

function coerceType(schema: JsonSchema, value: unknown): unknown {
  const allowed = getAllowedTypes(schema);
  if (allowed.length === 0 || allowed.some((type) => isOfType(type, value))) return value;
  for (const [type, convert] of conversions) {
    const converted = allowed.includes(type) ? convert(value) : undefined;
    if (converted !== undefined) return converted;
  }
  return value;
}

/** The types that the schema allows; empty if it allows any. Without `type`, they are the types of its literals. */
function getAllowedTypes(schema: JsonSchema): string[] {
  if (schema["type"] !== undefined) return [schema["type"]].flat().map(String);
  const literals = schema["const"] !== undefined ? [schema["const"]] : asArray(schema["enum"]);
  return [...new Set(literals.map(getType))];
}

function getType(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

const isOfType = (type: string, value: unknown) =>
  type === "integer" ? Number.isInteger(value) : type === getType(value);

/** In the order in which they are tried; the smallest change comes first. */
const conversions: readonly [type: string, convert: (value: unknown) => unknown][] = [
  ["integer", (value) => (Number.isInteger(parseNumber(value)) ? parseNumber(value) : undefined)],
  ["number", parseNumber],
  ["boolean", (value) => (value === "true" ? true : value === "false" ? false : undefined)],
  ["object", (value) => parseContainer(value, "object")],
  ["string", (value) => (Number.isFinite(value) || typeof value === "boolean" ? String(value) : undefined)],
  ["array", (value) => parseContainer(value, "array") ?? (value === null || value === undefined ? undefined : [value])],
];

function parseNumber(value: unknown): number | undefined {
  if (typeof value !== "string" || !/^\s*-?\d+(\.\d+)?([eE][+-]?\d+)?\s*$/.test(value)) return undefined;
  const number = Number(value);
  // A long number in quotes is often an id, which rounding would change.
  const isExact = Number.isFinite(number) && (!Number.isInteger(number) || Number.isSafeInteger(number));
  return isExact ? number : undefined;
}

function parseContainer(value: unknown, type: "object" | "array"): unknown {
  if (typeof value !== "string" || !value.trimStart().startsWith(type === "object" ? "{" : "[")) return undefined;
  const { copy, problem } = copyValue(tryParseJson(value));
  return problem === undefined && getType(copy) === type ? copy : undefined;
}

/** A deep copy of plain objects and arrays; other values are kept. `problem` is set if the value cannot be copied. */
export function copyValue(value: unknown): { copy: unknown; problem?: string } {
  const parents: object[] = [];
  let problem: string | undefined;
  const visit = (current: unknown): unknown => {
    if (typeof current !== "object" || current === null || !isPlain(current)) return current;
    if (parents.includes(current)) problem = "contain themselves";
    else if (parents.length >= maxValueDepth) problem = `are nested deeper than ${maxValueDepth} levels`;
    if (problem !== undefined) return undefined;
    parents.push(current);
    const copy = Array.isArray(current)
      ? current.map(visit)
      : Object.fromEntries(Object.entries(current).map(([key, inner]) => [key, visit(inner)]));
    parents.pop();
    return copy;
  };
  const copy = visit(value);
  return problem === undefined ? { copy } : { copy: undefined, problem };
}

/** A copy whose objects have no prototype, because the validator would also find inherited properties. */
export function withoutPrototypes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutPrototypes);
  if (typeof value !== "object" || value === null || !isPlain(value)) return value;
  const copy: Record<string, unknown> = Object.create(null);
  for (const [key, inner] of Object.entries(value)) copy[key] = withoutPrototypes(inner);
  return copy;
}

function isPlain(value: object): boolean {
  if (Array.isArray(value)) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
