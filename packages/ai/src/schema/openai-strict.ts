import type { JsonSchema, ToolParameters } from "../context.ts";
import { oncePer } from "../internal/once.ts";
import { asArray, asRecord, asString, isRecord } from "../json.ts";
import { toJsonSchema } from "./adapt.ts";
import { unescapeKey } from "./pointer.ts";

/**
 * Converts parameters to a schema for OpenAI's strict mode: objects allow no additional properties, every property is
 * required, and an optional one may be null instead.
 *
 * Limits that strict mode does not support, such as a length, are dropped, because arguments are validated against the
 * tool's own schema anyway. Undefined if the schema cannot be expressed (open maps, tuples, `allOf`, a value of any
 * type, external references) or is too large for strict mode.
 *
 * The result is cached by identity and must not be changed.
 */
export const toStrictSchema = oncePer((parameters: ToolParameters) =>
  new Converter(toJsonSchema(parameters)).convert(),
);

/** OpenAI's limits for strict schemas. */
const limits = { properties: 5_000, enumValues: 1_000, characters: 120_000, levels: 10 };

/** Limits the recursion. It counts unions and arrays too, unlike `limits.levels`. */
const maxDepth = 64;

/** Keywords that define the kind of value. They cannot be dropped, and strict mode does not support combining them. */
const structuralKeywords = ["properties", "items", "anyOf", "oneOf", "allOf", "enum", "const", "$ref"];

/**
 * Converts one schema. A part that cannot be expressed gives undefined. `level` is the number of enclosing objects,
 * `depth` the number of enclosing schemas.
 */
class Converter {
  readonly #root: JsonSchema;
  /** A reference may only point to these. */
  readonly #definitions: Record<string, unknown>;
  #properties = 0;
  #enumValues = 0;
  #characters = 0;

  constructor(root: JsonSchema) {
    this.#root = root;
    this.#definitions = { ...asRecord(root["definitions"]), ...asRecord(root["$defs"]) };
  }

  convert(): JsonSchema | undefined {
    const root = this.#root;
    if (root["type"] !== undefined && root["type"] !== "object") return undefined;
    if (structuralKeywords.some((key) => key !== "properties" && root[key] !== undefined)) return undefined;
    // A nested object without properties is an open map, but a root without properties is a tool without arguments.
    const object = { ...root, type: "object", properties: root["properties"] ?? {} };
    const schema = this.#convert(object, 0, 0);
    const $defs = this.#convertAll(this.#definitions, 0, 0);
    if (!schema || !$defs || this.#isTooLarge()) return undefined;
    return Object.keys($defs).length > 0 ? { ...schema, $defs } : schema;
  }

  #isTooLarge(): boolean {
    return (
      this.#properties > limits.properties ||
      this.#enumValues > limits.enumValues ||
      this.#characters > limits.characters
    );
  }

  #convert(schema: unknown, level: number, depth: number): JsonSchema | undefined {
    if (!isRecord(schema) || depth > maxDepth) return undefined;
    const keys = structuralKeywords.filter((key) => schema[key] !== undefined);
    if (schema["$ref"] !== undefined) return keys.length > 1 ? undefined : this.#convertReference(schema["$ref"]);
    const description = typeof schema["description"] === "string" ? { description: schema["description"] } : {};
    if (schema["allOf"] !== undefined) {
      // Generators write a reference with a description as `allOf` with one member.
      const [member, ...others] = asArray(schema["allOf"]);
      const inner = keys.length > 1 || others.length > 0 ? undefined : this.#convert(member, level, depth + 1);
      return inner?.["$ref"] === undefined ? inner && { ...inner, ...description } : inner;
    }
    if (schema["anyOf"] !== undefined || schema["oneOf"] !== undefined) {
      if (keys.length > 1) return undefined;
      const members = asArray(schema["anyOf"] ?? schema["oneOf"]);
      const variants = members.map((member) => this.#convert(member, level, depth + 1));
      return variants.length > 0 && variants.every(isRecord) ? { ...description, anyOf: variants } : undefined;
    }
    const hasLiterals = schema["enum"] !== undefined || schema["const"] !== undefined;
    const converted = hasLiterals ? this.#convertLiterals(schema) : this.#convertTyped(schema, level, depth);
    return converted && { ...description, ...converted };
  }

  /** A reference may only point to the root or a definition, and may not be combined with other keywords. */
  #convertReference(reference: unknown): JsonSchema | undefined {
    if (reference === "#") return { $ref: "#" };
    const name = /^#\/(?:\$defs|definitions)\/([^/]+)$/.exec(asString(reference))?.[1];
    if (name === undefined || !Object.hasOwn(this.#definitions, unescapeKey(name))) return undefined;
    return { $ref: `#/$defs/${name}` };
  }

  #convertLiterals(schema: JsonSchema): JsonSchema | undefined {
    const values = schema["const"] !== undefined ? [schema["const"]] : asArray(schema["enum"]);
    const types = [...new Set(values.map(getLiteralType))];
    if (types.length === 0 || types.includes(undefined)) return undefined;
    this.#enumValues += values.length;
    for (const value of values) if (typeof value === "string") this.#characters += value.length;
    return { type: types.length === 1 ? types[0] : types, enum: values };
  }

  #convertTyped(schema: JsonSchema, level: number, depth: number): JsonSchema | undefined {
    const types = readTypes(schema);
    const result: JsonSchema = { type: types.length === 1 ? types[0] : types };
    for (const type of types) {
      const supported = keywords[type];
      if (!supported) return undefined;
      for (const key of supported) if (isSupported(key, schema[key])) result[key] = schema[key];
      const parts = type === "object" ? this.#convertObject(schema, level, depth) : {};
      const items = type === "array" ? this.#convertArray(schema, level, depth) : {};
      if (!parts || !items) return undefined;
      Object.assign(result, parts, items);
    }
    return types.length > 0 ? result : undefined;
  }

  #convertObject(schema: JsonSchema, level: number, depth: number): JsonSchema | undefined {
    const isOpen = schema["additionalProperties"] !== undefined && schema["additionalProperties"] !== false;
    if (isOpen || schema["patternProperties"] !== undefined || !isRecord(schema["properties"])) return undefined;
    if (level >= limits.levels) return undefined;
    const properties = schema["properties"];
    const required = new Set(asArray(schema["required"]));
    if ([...required].some((name) => !Object.hasOwn(properties, String(name)))) return undefined;
    const converted = this.#convertAll(properties, level + 1, depth + 1);
    if (!converted) return undefined;
    const entries = Object.entries(converted);
    this.#properties += entries.length;
    return {
      properties: Object.fromEntries(
        entries.map(([name, property]) => [name, required.has(name) ? property : toNullable(property)]),
      ),
      required: Object.keys(converted),
      additionalProperties: false,
    };
  }

  #convertArray(schema: JsonSchema, level: number, depth: number): JsonSchema | undefined {
    if (schema["prefixItems"] !== undefined) return undefined;
    const items = this.#convert(schema["items"], level, depth + 1);
    return items && { items };
  }

  /** Converts each schema of a record; undefined if one of them cannot be expressed. */
  #convertAll(schemas: Record<string, unknown>, level: number, depth: number): Record<string, JsonSchema> | undefined {
    const entries: [string, JsonSchema][] = [];
    for (const [name, schema] of Object.entries(schemas)) {
      const strict = this.#convert(schema, level, depth + 1);
      if (!strict) return undefined;
      this.#characters += name.length;
      entries.push([name, strict]);
    }
    return Object.fromEntries(entries);
  }
}

function getLiteralType(value: unknown): string | undefined {
  if (value === null) return "null";
  const type = typeof value;
  return type === "string" || type === "number" || type === "boolean" ? type : undefined;
}

/** The keywords that strict mode supports, by type. */
const keywords: Record<string, readonly string[]> = {
  string: ["pattern", "format"],
  number: ["multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum"],
  integer: ["multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum"],
  boolean: [],
  null: [],
  array: ["minItems", "maxItems"],
  object: [],
};

const formats = ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

const isSupported = (key: string, value: unknown): boolean => {
  if (key === "format") return formats.includes(value as string);
  if (key === "pattern") return typeof value === "string" && !/\(\?<?[=!]/.test(value);
  return typeof value === "number";
};

function readTypes(schema: JsonSchema): string[] {
  const { type } = schema;
  if (type === undefined) return schema["properties"] ? ["object"] : schema["items"] ? ["array"] : [];
  return (Array.isArray(type) ? type : [type]).map(String);
}

/** The schema, extended to also allow null. */
function toNullable(schema: JsonSchema): JsonSchema {
  const { description, ...undescribed } = schema;
  const descriptionField = description !== undefined ? { description } : {};
  const nullSchema = { type: "null" };
  if (Array.isArray(schema["anyOf"])) {
    const variants = schema["anyOf"] as JsonSchema[];
    return variants.some(allowsNull) ? schema : { ...descriptionField, anyOf: [...variants, nullSchema] };
  }
  if (allowsNull(schema)) return schema;
  const types = schema["type"] === undefined ? [] : [schema["type"]].flat();
  if (types.length === 0 || types.includes("object") || types.includes("array")) {
    return { ...descriptionField, anyOf: [undescribed, nullSchema] };
  }
  const literals = Array.isArray(schema["enum"]) ? { enum: [...(schema["enum"] as unknown[]), null] } : {};
  return { ...schema, type: [...types, "null"], ...literals };
}

const allowsNull = (schema: JsonSchema): boolean => [schema["type"]].flat().includes("null");
