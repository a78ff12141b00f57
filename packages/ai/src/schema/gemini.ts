/**
 * Gemini supports a small part of JSON Schema: one type per node, properties, items, string enums, a few limits. An
 * unsupported keyword can make it reject the whole request, so all other keywords are rewritten or removed here.
 *
 * A constraint that cannot be expressed is dropped, because arguments are validated against the tool's own schema
 * afterwards. If a union mixes incompatible types, the model sees only its first branch.
 */
import type { JsonSchema, ToolParameters } from "../context.ts";
import { AiError } from "../errors.ts";
import { oncePer } from "../internal/once.ts";
import { asArray, isRecord } from "../json.ts";
import { toJsonSchema } from "./adapt.ts";
import { findByPointer } from "./pointer.ts";
import { intersect, type Shape, type Type, types, unite } from "./gemini-shape.ts";

/** The schema for `parameters` is an OpenAPI schema, the one for `parametersJsonSchema` a JSON Schema. */
type Form = "openapi" | "json-schema";

/**
 * A tool's parameters for Gemini's `parameters`. Throws `invalid_schema` if they are not an object or contain an invalid
 * reference. The result is cached by identity and must not be changed.
 */
export const toGeminiSchema = oncePer((parameters: ToolParameters) => convert(parameters, "openapi"));

/** Like `toGeminiSchema`, for `parametersJsonSchema`: null is a type, and enums of numbers stay numbers. */
export const toGeminiJsonSchema = oncePer((parameters: ToolParameters) => convert(parameters, "json-schema"));

function convert(parameters: ToolParameters, form: Form): JsonSchema {
  const root = toJsonSchema(parameters);
  const shape = new Reader(root).read(root, ["#"]);
  if (shape.type !== undefined && shape.type !== "object") {
    throw new AiError("invalid_schema", `Gemini accepts only an object as parameters, not ${shape.type}.`);
  }
  return write({ ...shape, type: "object", nullable: undefined, values: undefined }, form);
}

/** References can multiply the size of a schema; a larger one would be of no use to a model. */
const maxNodes = 10_000;
const maxDepth = 64;

/** Converts JSON Schema to shapes. References are resolved; a recursive one becomes a bare type. */
class Reader {
  readonly #root: JsonSchema;
  #nodes = 0;

  constructor(root: JsonSchema) {
    this.#root = root;
  }

  /** `trail` holds the references that are being resolved. */
  read(value: unknown, trail: readonly string[], depth = 0): Shape {
    if (value === false) return { never: true };
    if (!isRecord(value)) return {};
    if (++this.#nodes > maxNodes) throw new AiError("invalid_schema", `The schema has more than ${maxNodes} parts.`);
    if (depth > maxDepth) {
      throw new AiError("invalid_schema", `The schema is nested deeper than ${maxDepth} levels.`);
    }
    const readInner = (part: unknown) => this.read(part, trail, depth + 1);
    let shape = this.#readKeywords(value, readInner);
    if (typeof value["$ref"] === "string") shape = intersect(shape, this.#readReference(value["$ref"], trail, depth));
    for (const part of asArray(value["allOf"])) shape = intersect(shape, readInner(part));
    for (const key of ["anyOf", "oneOf"]) {
      const branches = asArray(value[key]);
      if (branches.length > 0) shape = intersect(shape, unite(branches.map(readInner)));
    }
    return shape;
  }

  /** Reads all keywords but references and combinations. */
  #readKeywords(schema: JsonSchema, readInner: (part: unknown) => Shape): Shape {
    const { title, description } = schema;
    const values = readValues(schema);
    const declaredTypes = readTypes(schema["type"]);
    const literals = values?.filter((item) => item !== null);
    const type =
      declaredTypes?.find((name) => name !== "null") ??
      getTypeOfValues(literals) ??
      (declaredTypes ? "null" : guessType(schema));
    return {
      ...(type && { type }),
      ...readNullable(schema, declaredTypes, values),
      ...(literals && literals.length > 0 && { values: literals }),
      ...(typeof title === "string" && title && { title }),
      ...(typeof description === "string" && description && { description }),
      ...(isRecord(schema["properties"]) && {
        properties: new Map(Object.entries(schema["properties"]).map(([name, part]) => [name, readInner(part)])),
      }),
      required: new Set(asArray(schema["required"]).filter((name) => typeof name === "string")),
      ...readItems(schema, readInner),
      ...readBounds(schema, type),
    };
  }

  #readReference(reference: string, trail: readonly string[], depth: number): Shape {
    const target = this.#resolve(reference);
    if (!trail.includes(reference)) return this.read(target, [...trail, reference], depth + 1);
    const type = isRecord(target) ? readTypes(target["type"])?.find((name) => name !== "null") : undefined;
    return { type: type ?? "object" };
  }

  #resolve(reference: string): unknown {
    const target = reference.startsWith("#") ? findByPointer(this.#root, reference) : this.#findById(reference);
    if (target !== undefined) return target;
    throw new AiError("invalid_schema", `The schema's reference ${JSON.stringify(reference)} cannot be resolved.`);
  }

  /** TypeBox refers to its definitions by `$id`. */
  #findById(id: string): unknown {
    return [this.#root["$defs"], this.#root["definitions"]]
      .flatMap((definitions) => (isRecord(definitions) ? Object.values(definitions) : []))
      .find((definition) => isRecord(definition) && definition["$id"] === id);
  }
}

function readTypes(value: unknown): Type[] | undefined {
  const names = (Array.isArray(value) ? value : [value]).map((name) => String(name).toLowerCase());
  const known = types.filter((type) => names.includes(type));
  if (known.length === 0) return undefined;
  // A number includes integers. Otherwise the order is kept, because the first type is used.
  if (names.includes("number")) return known.filter((type) => type !== "integer");
  return known.toSorted((a, b) => names.indexOf(a) - names.indexOf(b));
}

function readValues(schema: JsonSchema): unknown[] | undefined {
  if ("const" in schema) return [schema["const"]];
  return Array.isArray(schema["enum"]) ? schema["enum"] : undefined;
}

function readNullable(schema: JsonSchema, declaredTypes: Type[] | undefined, values: unknown[] | undefined): Shape {
  if (!declaredTypes && !values && schema["nullable"] !== true) return {};
  const allowsNull = declaredTypes?.includes("null") === true || values?.includes(null) === true;
  return { nullable: schema["nullable"] === true || allowsNull };
}

function getTypeOfValues(values: unknown[] | undefined): Type | undefined {
  if (!values || values.length === 0) return values && "null";
  const valueTypes = new Set(values.map(getTypeOfValue));
  if (valueTypes.size === 1) return [...valueTypes][0];
  return [...valueTypes].every((type) => type === "integer" || type === "number") ? "number" : "string";
}

function getTypeOfValue(value: unknown): Type {
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value === "boolean" || typeof value === "string" ? (typeof value as Type) : "object";
}

/** Keywords that imply a type if the schema has no `type`. */
const typeHints: readonly [Type, readonly string[]][] = [
  ["object", ["properties", "required", "additionalProperties", "patternProperties", "minProperties", "maxProperties"]],
  ["array", ["items", "prefixItems", "minItems", "maxItems"]],
  ["string", ["pattern", "minLength", "maxLength"]],
  ["number", ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]],
];

const guessType = (schema: JsonSchema): Type | undefined =>
  typeHints.find(([, keywords]) => keywords.some((keyword) => keyword in schema))?.[0];

/** A tuple becomes an array whose items are the union of its elements. */
function readItems(schema: JsonSchema, readInner: (part: unknown) => Shape): Shape {
  const elements = Array.isArray(schema["prefixItems"]) ? schema["prefixItems"] : asArray(schema["items"]);
  if (elements.length > 0) return { items: unite(elements.map(readInner)) };
  return isRecord(schema["items"]) ? { items: readInner(schema["items"]) } : {};
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

/** Gemini's patterns are RE2, which has no lookaround and no back references. */
const notRe2 = /\(\?<?[=!]|\\[1-9]|\\k</;

function readBounds(schema: JsonSchema, type: Type | undefined): Shape {
  if (!type) return {};
  const bounds = new Map<string, unknown>();
  const { format, pattern } = schema;
  if (appliesTo(type, "format", format)) bounds.set("format", format);
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
  // If an enum may only contain strings, numbers are written as strings.
  const type = values?.every((value) => typeof value === "string") ? "string" : (shape.type ?? "string");
  const nullable = shape.nullable === true && type !== "null";
  const constraints = type === shape.type ? shape : {};
  const properties =
    type === "object" && constraints.properties
      ? [...constraints.properties].filter(([, property]) => !property.never)
      : undefined;
  const required = properties?.map(([name]) => name).filter((name) => constraints.required?.has(name)) ?? [];
  return {
    type: nullable && form === "json-schema" ? [type, "null"] : type,
    ...(shape.title && { title: shape.title }),
    ...(shape.description && { description: shape.description }),
    ...(nullable && form === "openapi" && { nullable }),
    ...(values && { enum: values }),
    ...(properties && {
      properties: Object.fromEntries(properties.map(([name, property]) => [name, write(property, form)])),
    }),
    ...(required.length > 0 && { required }),
    // Gemini requires `items` in an array.
    ...(type === "array" && { items: write(constraints.items ?? {}, form) }),
    ...Object.fromEntries([...(constraints.bounds ?? [])].filter(([key, value]) => appliesTo(type, key, value))),
  };
}

/** Whether a keyword applies to a type. Merging may have changed the type since the keyword was read. */
function appliesTo(type: Type, key: string, value: unknown): boolean {
  if (key === "format") return formatsByType[type]?.some((format) => format === value) === true;
  return key === "pattern" ? type === "string" : boundsByType[type].includes(key);
}

/** An enum may only contain strings and numbers, and no empty string. */
function writeValues(shape: Shape, form: Form): (string | number)[] | undefined {
  if (shape.type === "boolean" || shape.type === "object" || shape.type === "array") return undefined;
  const scalars = (shape.values ?? []).filter((value) => typeof value !== "object" && value !== "");
  const isNumber = shape.type === "number" || shape.type === "integer";
  const keepsNumbers = form === "json-schema" && isNumber && scalars.every((value) => typeof value === "number");
  const values = new Set<string | number>(keepsNumbers ? (scalars as number[]) : scalars.map(String));
  return values.size > 0 ? [...values] : undefined;
}
