/**
 * Gemini understands a small part of JSON Schema: one type a node, properties, items, string enums, a few bounds. A
 * keyword that it does not know can make it refuse the whole request, so everything else is rewritten here.
 *
 * What cannot be said is widened, for arguments are validated against the tool's own schema afterwards. Where a union
 * mixes types that no single type covers, its first branch is what the model sees.
 */
import { isRecord } from "../is-record.ts";
import type { JsonSchema, ToolParameters } from "../context.ts";
import { AiError } from "../errors.ts";
import { oncePer } from "../internal/once.ts";
import { toJsonSchema } from "./adapt.ts";
import { both, either, type Shape, type Type, types } from "./gemini-shape.ts";

/** The two spellings of the same schema: `parameters` is OpenAPI's, `parametersJsonSchema` is JSON Schema's. */
type Form = "openapi" | "json-schema";

/**
 * A tool's parameters as Gemini's `parameters` takes them. Throws `invalid_schema` for what cannot be said: something
 * else than an object, a reference that leads nowhere. The result is cached by identity and must not be changed.
 */
export const toGeminiSchema: (parameters: ToolParameters) => JsonSchema = oncePer((parameters: ToolParameters) =>
  convert(parameters, "openapi"),
);

/** The same for `parametersJsonSchema`: null is a type, and enums of numbers stay numbers. */
export const toGeminiJsonSchema: (parameters: ToolParameters) => JsonSchema = oncePer((parameters: ToolParameters) =>
  convert(parameters, "json-schema"),
);

function convert(parameters: ToolParameters, form: Form): JsonSchema {
  const root = toJsonSchema(parameters);
  const shape = new Reader(root).read(root, ["#"]);
  if (shape.type !== undefined && shape.type !== "object") {
    throw new AiError("invalid_schema", `Gemini takes only objects as parameters, not ${shape.type}.`);
  }
  return write({ ...shape, type: "object", nullable: undefined, values: undefined }, form);
}

/** Larger schemas come from references that multiply; no model would read them. */
const maxNodes = 10_000;
const deepest = 64;

/** Reads JSON Schema into shapes. References are followed; one that leads back to itself is cut. */
class Reader {
  readonly #root: JsonSchema;
  #nodes = 0;

  constructor(root: JsonSchema) {
    this.#root = root;
  }

  /** `trail` holds the references that are being followed. */
  read(value: unknown, trail: readonly string[], depth = 0): Shape {
    if (value === false) return { never: true };
    if (!isRecord(value)) return {};
    if (++this.#nodes > maxNodes) throw new AiError("invalid_schema", `It has more than ${maxNodes} parts.`);
    if (depth > deepest) throw new AiError("invalid_schema", `It is nested deeper than ${deepest} levels.`);
    const inner = (part: unknown) => this.read(part, trail, depth + 1);
    let shape = this.#readOwn(value, inner);
    if (typeof value["$ref"] === "string") shape = both(shape, this.#follow(value["$ref"], trail, depth));
    for (const part of list(value["allOf"])) shape = both(shape, inner(part));
    for (const key of ["anyOf", "oneOf"]) {
      const branches = list(value[key]);
      if (branches.length > 0) shape = both(shape, either(branches.map(inner)));
    }
    return shape;
  }

  #readOwn(value: JsonSchema, inner: (part: unknown) => Shape): Shape {
    const values = readValues(value);
    const named = readTypes(value["type"]);
    const literal = values?.filter((item) => item !== null);
    const type = named?.find((name) => name !== "null") ?? typeOfValues(literal) ?? (named ? "null" : guessType(value));
    return {
      ...(type && { type }),
      ...readNullable(value, named, values),
      ...(literal && literal.length > 0 && { values: literal }),
      ...texts(value),
      ...(isRecord(value["properties"]) && {
        properties: new Map(Object.entries(value["properties"]).map(([name, part]) => [name, inner(part)])),
      }),
      required: new Set(list(value["required"]).filter((name) => typeof name === "string")),
      ...readItems(value, inner),
      ...readBounds(value, type),
    };
  }

  #follow(reference: string, trail: readonly string[], depth: number): Shape {
    const target = this.#resolve(reference);
    if (!trail.includes(reference)) return this.read(target, [...trail, reference], depth + 1);
    const type = isRecord(target) ? readTypes(target["type"])?.find((name) => name !== "null") : undefined;
    return { type: type ?? "object" };
  }

  #resolve(reference: string): unknown {
    const target = reference.startsWith("#") ? this.#at(reference) : this.#called(reference);
    if (target !== undefined) return target;
    throw new AiError("invalid_schema", `Its reference ${JSON.stringify(reference)} leads nowhere.`);
  }

  #at(pointer: string): unknown {
    const [origin, ...steps] = pointer.split("/");
    let target: unknown = origin === "#" ? this.#root : undefined;
    for (const name of steps.map(unescapeStep)) {
      const isThere = (isRecord(target) || Array.isArray(target)) && Object.hasOwn(target, name);
      target = isThere ? get(target as object, name) : undefined;
    }
    return target;
  }

  /** TypeBox refers to its definitions by `$id`. */
  #called(id: string): unknown {
    return [this.#root["$defs"], this.#root["definitions"]]
      .flatMap((definitions) => (isRecord(definitions) ? Object.values(definitions) : []))
      .find((definition) => isRecord(definition) && definition["$id"] === id);
  }
}

const get = (target: object, name: string): unknown => (target as Record<string, unknown>)[name];

function unescapeStep(step: string): string {
  // A stray percent sign is part of the name, not an escape.
  const plain = /%(?![0-9a-fA-F]{2})/.test(step) ? step : decodeURIComponent(step);
  return plain.replaceAll("~1", "/").replaceAll("~0", "~");
}

const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

function readTypes(value: unknown): Type[] | undefined {
  const names = (Array.isArray(value) ? value : [value]).map((name) => String(name).toLowerCase());
  const found = types.filter((type) => names.includes(type));
  if (found.length === 0) return undefined;
  // A number covers an integer; of other mixtures the first that was named counts.
  if (names.includes("number")) return found.filter((type) => type !== "integer");
  return found.toSorted((a, b) => names.indexOf(a) - names.indexOf(b));
}

function readValues(schema: JsonSchema): unknown[] | undefined {
  if ("const" in schema) return [schema["const"]];
  return Array.isArray(schema["enum"]) ? schema["enum"] : undefined;
}

function readNullable(schema: JsonSchema, named: Type[] | undefined, values: unknown[] | undefined): Shape {
  if (!named && !values && schema["nullable"] !== true) return {};
  return {
    nullable: schema["nullable"] === true || named?.includes("null") === true || values?.includes(null) === true,
  };
}

function typeOfValues(values: unknown[] | undefined): Type | undefined {
  if (!values || values.length === 0) return values && "null";
  const found = new Set(values.map(typeOfValue));
  if (found.size === 1) return [...found][0];
  return [...found].every((type) => type === "integer" || type === "number") ? "number" : "string";
}

function typeOfValue(value: unknown): Type {
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value === "boolean" || typeof value === "string" ? (typeof value as Type) : "object";
}

/** Schemas often leave the type to be understood from the other keywords. */
const hints: readonly [Type, readonly string[]][] = [
  ["object", ["properties", "required", "additionalProperties", "patternProperties", "minProperties", "maxProperties"]],
  ["array", ["items", "prefixItems", "minItems", "maxItems"]],
  ["string", ["pattern", "minLength", "maxLength"]],
  ["number", ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]],
];

const guessType = (schema: JsonSchema): Type | undefined =>
  hints.find(([, keywords]) => keywords.some((keyword) => keyword in schema))?.[0];

function texts(schema: JsonSchema): Shape {
  const { title, description } = schema;
  return {
    ...(typeof title === "string" && title && { title }),
    ...(typeof description === "string" && description && { description }),
  };
}

/** A tuple becomes a list of what its places have in common. */
function readItems(schema: JsonSchema, inner: (part: unknown) => Shape): Shape {
  const places = Array.isArray(schema["prefixItems"]) ? schema["prefixItems"] : list(schema["items"]);
  if (places.length > 0) return { items: either(places.map(inner)) };
  return isRecord(schema["items"]) ? { items: inner(schema["items"]) } : {};
}

const boundsByType: Record<Type, readonly string[]> = {
  string: ["minLength", "maxLength"],
  number: ["minimum", "maximum"],
  integer: ["minimum", "maximum"],
  array: ["minItems", "maxItems"],
  object: ["minProperties", "maxProperties"],
  boolean: [],
  null: [],
};

const formatsByType: Partial<Record<Type, readonly string[]>> = {
  string: ["date-time"],
  number: ["float", "double"],
  integer: ["int32", "int64"],
};

/** Gemini's patterns are RE2: no looking around and no back references. */
const notRe2 = /\(\?<?[=!]|\\[1-9]|\\k</;

function readBounds(schema: JsonSchema, type: Type | undefined): Shape {
  if (!type) return {};
  const bounds = new Map<string, unknown>();
  const { format, pattern } = schema;
  if (fits(type, "format", format)) bounds.set("format", format);
  if (type === "string" && typeof pattern === "string" && !notRe2.test(pattern)) bounds.set("pattern", pattern);
  for (const key of boundsByType[type]) if (typeof schema[key] === "number") bounds.set(key, schema[key]);
  const step = type === "integer" ? 1 : 0;
  for (const [key, exclusive, sign] of exclusives) {
    const limit = schema[exclusive];
    if (typeof limit === "number" && boundsByType[type].includes(key) && !bounds.has(key))
      bounds.set(key, limit + sign * step);
  }
  return { bounds };
}

const exclusives = [
  ["minimum", "exclusiveMinimum", 1],
  ["maximum", "exclusiveMaximum", -1],
] as const;

function write(shape: Shape, form: Form): JsonSchema {
  const values = writeValues(shape, form);
  // Where only texts may be listed, a choice of numbers becomes a choice of their names.
  const type = values?.every((value) => typeof value === "string") ? "string" : (shape.type ?? "string");
  const nullable = shape.nullable === true && type !== "null";
  const kept = type === shape.type ? shape : {};
  const properties = type === "object" ? kept.properties : undefined;
  const named = properties && [...properties].filter(([, part]) => !part.never);
  const required = named?.map(([name]) => name).filter((name) => kept.required?.has(name)) ?? [];
  return {
    type: nullable && form === "json-schema" ? [type, "null"] : type,
    ...(shape.title && { title: shape.title }),
    ...(shape.description && { description: shape.description }),
    ...(nullable && form === "openapi" && { nullable }),
    ...(values && { enum: values }),
    ...(named && { properties: Object.fromEntries(named.map(([name, part]) => [name, write(part, form)])) }),
    ...(required.length > 0 && { required }),
    // A list has to say of what.
    ...(type === "array" && { items: write(kept.items ?? {}, form) }),
    ...Object.fromEntries([...(kept.bounds ?? [])].filter(([key, value]) => fits(type, key, value))),
  };
}

/** Whether a bound means something for a type; merging may have changed the type it was read for. */
function fits(type: Type, key: string, value: unknown): boolean {
  if (key === "format") return formatsByType[type]?.some((format) => format === value) === true;
  return key === "pattern" ? type === "string" : boundsByType[type].includes(key);
}

/** Only texts and numbers can be listed, and no empty text. */
function writeValues(shape: Shape, form: Form): (string | number)[] | undefined {
  if (shape.type === "boolean" || shape.type === "object" || shape.type === "array") return undefined;
  const scalars = (shape.values ?? []).filter((value) => typeof value !== "object" && value !== "");
  const counts = shape.type === "number" || shape.type === "integer";
  const numeric = form === "json-schema" && counts && scalars.every((value) => typeof value === "number");
  const values = new Set<string | number>(numeric ? (scalars as number[]) : scalars.map(String));
  return values.size > 0 ? [...values] : undefined;
}
