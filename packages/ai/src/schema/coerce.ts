/**
 * Makes arguments fit a schema where a model was careless: a number in quotes, JSON in a string, one thing where a list
 * is wanted. Only what does not fit as it is changes; whether the outcome is valid is for the validator to say.
 */
import { Check } from "#schema-engine";
import type { JsonSchema } from "../context.ts";
import { isRecord } from "../is-record.ts";

/** The deepest value that is looked at; deeper ones are refused. */
const deepestValue = 64;

/** A schema whose parts can be checked on their own: their references lead to the whole by its name. */
interface Coercion {
  readonly root: JsonSchema;
  /** Only defaults are filled in: the value is known to be valid as it is. */
  readonly onlyDefaults: boolean;
  /** Attempts at members of unions that may still be made. Recursive unions would otherwise multiply them. */
  attemptsLeft: number;
}

const wholeSchema = "urn:tau:root";
const maxAttempts = 1_000;

/** A value as deep as allowed may pass several schemas at each level. */
const deepestSchema = 8 * deepestValue;

/**
 * Prepares a schema; what is returned gives a value the schema's defaults and, unless it is known to be valid, changes
 * what does not fit. It works in place.
 */
export function createCoercion(schema: JsonSchema): (value: unknown, isValid: boolean) => unknown {
  const root = JSON.parse(JSON.stringify(schema), (key, value: unknown) =>
    key === "$ref" && typeof value === "string" && value.startsWith("#") ? wholeSchema + value : value,
  ) as JsonSchema;
  delete root["$id"];
  return (value, isValid) => coerce({ root, onlyDefaults: isValid, attemptsLeft: maxAttempts }, root, value, 0);
}

/** `depth` counts the schemas around this one: references may run in a circle, and lists of lists go on for ever. */
function coerce(coercion: Coercion, schema: unknown, value: unknown, depth: number): unknown {
  if (!isRecord(schema) || depth > deepestSchema) return value;
  let fitted = coercion.onlyDefaults ? value : coerceType(schema, value);
  if (schema["$ref"] !== undefined) {
    fitted = coerce(coercion, resolve(coercion.root, schema["$ref"]), fitted, depth + 1);
  }
  for (const member of readList(schema["allOf"])) fitted = coerce(coercion, member, fitted, depth + 1);
  for (const union of [schema["anyOf"], schema["oneOf"]]) {
    if (union !== undefined) fitted = coerceUnion(coercion, readList(union), fitted, depth + 1);
  }
  if (Array.isArray(fitted)) coerceItems(coercion, schema, fitted, depth + 1);
  else if (isRecord(fitted)) coerceProperties(coercion, schema, fitted, depth + 1);
  return fitted;
}

/** The first member that takes the value as it is, else the first that takes what it makes of the value. */
function coerceUnion(coercion: Coercion, union: unknown[], value: unknown, depth: number): unknown {
  const asItIs = union.find((member) => takes(coercion, member, value));
  if (asItIs !== undefined) return coerce(coercion, asItIs, value, depth);
  if (coercion.onlyDefaults) return value;
  for (const member of union) {
    if (coercion.attemptsLeft-- <= 0) return value;
    const attempt = coerce(coercion, member, copyValue(value).copy, depth);
    if (takes(coercion, member, attempt)) return attempt;
  }
  return value;
}

function coerceItems(coercion: Coercion, schema: JsonSchema, items: unknown[], depth: number): void {
  const first = readList(schema["prefixItems"]);
  items.forEach((item, index) => {
    items[index] = coerce(coercion, first[index] ?? schema["items"], item, depth);
  });
}

function coerceProperties(
  coercion: Coercion,
  schema: JsonSchema,
  object: Record<string, unknown>,
  depth: number,
): void {
  const properties = readRecord(schema["properties"]);
  const required = readList(schema["required"]);
  for (const [name, property] of Object.entries(properties)) {
    const given = Object.hasOwn(object, name) ? object[name] : undefined;
    if (given === undefined) {
      const fallback = readRecord(property)["default"];
      if (fallback !== undefined) setOwn(object, name, copyValue(fallback).copy);
    } else if (
      given === null &&
      !coercion.onlyDefaults &&
      !required.includes(name) &&
      !takes(coercion, property, null)
    ) {
      delete object[name];
    } else {
      setOwn(object, name, coerce(coercion, property, given, depth));
    }
  }
  const patterns = Object.entries(readRecord(schema["patternProperties"]));
  const others = schema["additionalProperties"];
  if (patterns.length === 0 && !isRecord(others)) return;
  for (const name of Object.keys(object)) {
    if (Object.hasOwn(properties, name)) continue;
    const matching = patterns.filter(([pattern]) => new RegExp(pattern, "u").test(name)).map(([, inner]) => inner);
    for (const inner of matching.length > 0 ? matching : [others]) {
      setOwn(object, name, coerce(coercion, inner, object[name], depth));
    }
  }
}

const takes = ({ root }: Coercion, schema: unknown, value: unknown): boolean =>
  (isRecord(schema) || typeof schema === "boolean") && Check({ [wholeSchema]: root }, schema, withoutPrototypes(value));

/** What a reference leads to. Only pointers are followed; behind others nothing is coerced. */
function resolve(root: JsonSchema, reference: unknown): unknown {
  if (typeof reference !== "string" || !reference.startsWith(`${wholeSchema}#`)) return undefined;
  let found: unknown = root;
  for (const part of reference
    .slice(wholeSchema.length + 1)
    .split("/")
    .slice(1)) {
    const key = decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, key)) return undefined;
    found = (found as Record<string, unknown>)[key];
  }
  return found;
}

function coerceType(schema: JsonSchema, value: unknown): unknown {
  const wanted = wantedTypes(schema);
  if (wanted.length === 0 || wanted.some((type) => isOfType(type, value))) return value;
  for (const [type, convert] of conversions) {
    const converted = wanted.includes(type) ? convert(value) : undefined;
    if (converted !== undefined) return converted;
  }
  return value;
}

/** The types a value must be one of; none where any will do. Literals count, for they are often all that is said. */
function wantedTypes(schema: JsonSchema): string[] {
  if (schema["type"] !== undefined) return [schema["type"]].flat().map(String);
  const literals = schema["const"] !== undefined ? [schema["const"]] : readList(schema["enum"]);
  return [...new Set(literals.map(typeOf))];
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

const isOfType = (type: string, value: unknown) =>
  type === "integer" ? Number.isInteger(value) : type === typeOf(value);

/** In the order in which they are tried: what changes least comes first. */
const conversions: readonly [type: string, convert: (value: unknown) => unknown][] = [
  ["integer", (value) => (Number.isInteger(readNumber(value)) ? readNumber(value) : undefined)],
  ["number", readNumber],
  ["boolean", (value) => (value === "true" ? true : value === "false" ? false : undefined)],
  ["object", (value) => readJson(value, "object")],
  ["string", (value) => (Number.isFinite(value) || typeof value === "boolean" ? String(value) : undefined)],
  ["array", (value) => readJson(value, "array") ?? (value === null || value === undefined ? undefined : [value])],
];

function readNumber(value: unknown): number | undefined {
  if (typeof value !== "string" || !/^\s*-?\d+(\.\d+)?([eE][+-]?\d+)?\s*$/.test(value)) return undefined;
  const number = Number(value);
  // A long number in quotes is often an id, and rounding would make it another one.
  const isExact = Number.isFinite(number) && (!Number.isInteger(number) || Number.isSafeInteger(number));
  return isExact ? number : undefined;
}

function readJson(value: unknown, type: "object" | "array"): unknown {
  if (typeof value !== "string" || !value.trimStart().startsWith(type === "object" ? "{" : "[")) return undefined;
  try {
    const { copy, problem } = copyValue(JSON.parse(value));
    return problem === undefined && typeOf(copy) === type ? copy : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** A deep copy of plain objects and lists, and why it is not complete, if it is not. Everything else is kept as it is. */
export function copyValue(value: unknown): { copy: unknown; problem?: string } {
  const around: object[] = [];
  let problem: string | undefined;
  const visit = (current: unknown): unknown => {
    if (typeof current !== "object" || current === null || !isPlain(current)) return current;
    if (around.includes(current)) problem = "contain themselves";
    else if (around.length >= deepestValue) problem = `are nested deeper than ${deepestValue} levels`;
    if (problem !== undefined) return undefined;
    around.push(current);
    const copy = Array.isArray(current) ? current.map(visit) : copyProperties(current, visit);
    around.pop();
    return copy;
  };
  const copy = visit(value);
  return problem === undefined ? { copy } : { copy: undefined, problem };
}

function copyProperties(object: object, visit: (value: unknown) => unknown): object {
  const copy = {};
  for (const key of Object.keys(object)) setOwn(copy, key, visit((object as Record<string, unknown>)[key]));
  return copy;
}

/** A copy whose objects inherit nothing: the validator would also find inherited properties. */
export function withoutPrototypes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutPrototypes);
  if (typeof value !== "object" || value === null || !isPlain(value)) return value;
  const bare: Record<string, unknown> = Object.create(null);
  for (const [key, inner] of Object.entries(value)) bare[key] = withoutPrototypes(inner);
  return bare;
}

function isPlain(value: object): boolean {
  if (Array.isArray(value)) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Assigns a property of the object's own, also where its name would reach the prototype. */
function setOwn(object: object, key: string, value: unknown): void {
  if (key !== "__proto__") (object as Record<string, unknown>)[key] = value;
  else Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
}

const readRecord = (value: unknown): Record<string, unknown> => (isRecord(value) ? value : {});
const readList = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
