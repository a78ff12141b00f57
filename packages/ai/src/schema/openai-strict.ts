import type { JsonSchema, ToolParameters } from "../context.ts";
import { oncePer } from "../internal/once.ts";
import { isRecord } from "../is-record.ts";
import { asArray, asRecord } from "../json.ts";
import { toJsonSchema } from "./adapt.ts";

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
export const toStrictSchema = oncePer((parameters: ToolParameters) => convertRoot(toJsonSchema(parameters)));

/** The state of one conversion. */
interface Conversion {
  /** The names of the definitions that a reference may point to. */
  readonly definitions: ReadonlySet<string>;
  properties: number;
  enumValues: number;
  characters: number;
}

/** OpenAI's limits for strict schemas. */
const limits = { properties: 5_000, enumValues: 1_000, characters: 120_000, levels: 10 };

/** Limits the recursion. It counts unions and arrays too, unlike `limits.levels`. */
const maxDepth = 64;

interface SchemaDepth {
  /** The number of enclosing objects. */
  level: number;
  /** The number of enclosing schemas. */
  depth: number;
}

function convertRoot(root: JsonSchema): JsonSchema | undefined {
  if (root["type"] !== undefined && root["type"] !== "object") return undefined;
  if (structuralKeywords.some((key) => key !== "properties" && root[key] !== undefined)) return undefined;
  const definitions = { ...asRecord(root["definitions"]), ...asRecord(root["$defs"]) };
  const conversion: Conversion = {
    definitions: new Set(Object.keys(definitions)),
    properties: 0,
    enumValues: 0,
    characters: 0,
  };
  // A nested object without properties is an open map, but a root without properties is a tool without arguments.
  const object = { ...root, type: "object", properties: root["properties"] ?? {} };
  const schema = convert(object, { level: 0, depth: 0 }, conversion);
  const defs = convertAll(definitions, { level: 0, depth: 0 }, conversion);
  if (!schema || !defs || isTooLarge(conversion)) return undefined;
  return conversion.definitions.size > 0 ? { ...schema, $defs: defs } : schema;
}

const isTooLarge = (conversion: Conversion) =>
  conversion.properties > limits.properties ||
  conversion.enumValues > limits.enumValues ||
  conversion.characters > limits.characters;

/** Keywords that define the kind of value. They cannot be dropped, and strict mode does not support combining them. */
const structuralKeywords = ["properties", "items", "anyOf", "oneOf", "allOf", "enum", "const", "$ref"];

function convert(schema: unknown, position: SchemaDepth, conversion: Conversion): JsonSchema | undefined {
  if (!isRecord(schema) || position.depth > maxDepth) return undefined;
  const keys = structuralKeywords.filter((key) => schema[key] !== undefined);
  if (schema["$ref"] !== undefined) return keys.length > 1 ? undefined : convertReference(schema["$ref"], conversion);
  const description = typeof schema["description"] === "string" ? { description: schema["description"] } : {};
  if (schema["allOf"] !== undefined) {
    // Generators write a reference with a description as `allOf` with one member.
    const [member, ...others] = asArray(schema["allOf"]);
    const inner = keys.length > 1 || others.length > 0 ? undefined : convert(member, descend(position), conversion);
    return inner?.["$ref"] === undefined ? inner && { ...inner, ...description } : inner;
  }
  if (schema["anyOf"] !== undefined || schema["oneOf"] !== undefined) {
    if (keys.length > 1) return undefined;
    const members = asArray(schema["anyOf"] ?? schema["oneOf"]);
    const variants = members.map((member) => convert(member, descend(position), conversion));
    return variants.length > 0 && variants.every(isRecord) ? { ...description, anyOf: variants } : undefined;
  }
  if (schema["enum"] !== undefined || schema["const"] !== undefined) {
    const literals = convertLiterals(schema, conversion);
    return literals && { ...description, ...literals };
  }
  const typed = convertTyped(schema, position, conversion);
  return typed && { ...description, ...typed };
}

const descend = (position: SchemaDepth, levels = 0): SchemaDepth => ({
  level: position.level + levels,
  depth: position.depth + 1,
});

/** A reference may only point to the root or a definition, and may not be combined with other keywords. */
function convertReference(reference: unknown, conversion: Conversion): JsonSchema | undefined {
  if (reference === "#") return { $ref: "#" };
  const name = typeof reference === "string" ? /^#\/(?:\$defs|definitions)\/([^/]+)$/.exec(reference)?.[1] : undefined;
  if (name === undefined || !conversion.definitions.has(unescapePointer(name))) return undefined;
  return { $ref: `#/$defs/${name}` };
}

const unescapePointer = (name: string) => name.replaceAll("~1", "/").replaceAll("~0", "~");

function convertLiterals(schema: JsonSchema, conversion: Conversion): JsonSchema | undefined {
  const values = schema["const"] !== undefined ? [schema["const"]] : asArray(schema["enum"]);
  const types = [...new Set(values.map(getLiteralType))];
  if (types.length === 0 || types.includes(undefined)) return undefined;
  conversion.enumValues += values.length;
  for (const value of values) if (typeof value === "string") conversion.characters += value.length;
  return { type: types.length === 1 ? types[0] : types, enum: values };
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

function convertTyped(schema: JsonSchema, position: SchemaDepth, conversion: Conversion): JsonSchema | undefined {
  const types = readTypes(schema);
  const result: JsonSchema = { type: types.length === 1 ? types[0] : types };
  for (const type of types) {
    const supported = keywords[type];
    if (!supported) return undefined;
    for (const key of supported) if (isSupported(key, schema[key])) result[key] = schema[key];
    const parts =
      type === "object"
        ? convertObject(schema, position, conversion)
        : type === "array"
          ? convertArray(schema, position, conversion)
          : {};
    if (!parts) return undefined;
    Object.assign(result, parts);
  }
  return types.length > 0 ? result : undefined;
}

function readTypes(schema: JsonSchema): string[] {
  const { type } = schema;
  if (type === undefined) return schema["properties"] ? ["object"] : schema["items"] ? ["array"] : [];
  return (Array.isArray(type) ? type : [type]).map(String);
}

function convertObject(schema: JsonSchema, position: SchemaDepth, conversion: Conversion): JsonSchema | undefined {
  const isOpen = schema["additionalProperties"] !== undefined && schema["additionalProperties"] !== false;
  if (isOpen || schema["patternProperties"] !== undefined || !isRecord(schema["properties"])) return undefined;
  if (position.level >= limits.levels) return undefined;
  const properties = schema["properties"];
  const required = new Set(asArray(schema["required"]));
  if ([...required].some((name) => !Object.hasOwn(properties, String(name)))) return undefined;
  const converted = convertAll(properties, descend(position, 1), conversion);
  if (!converted) return undefined;
  const names = Object.keys(converted);
  conversion.properties += names.length;
  return {
    properties: Object.fromEntries(
      names.map((name) => [name, required.has(name) ? converted[name] : toNullable(converted[name] as JsonSchema)]),
    ),
    required: names,
    additionalProperties: false,
  };
}

function convertArray(schema: JsonSchema, position: SchemaDepth, conversion: Conversion): JsonSchema | undefined {
  if (schema["prefixItems"] !== undefined) return undefined;
  const items = convert(schema["items"], descend(position), conversion);
  return items && { items };
}

/** Converts each schema of a record; undefined if one of them cannot be expressed. */
function convertAll(
  schemas: Record<string, unknown>,
  position: SchemaDepth,
  conversion: Conversion,
): Record<string, unknown> | undefined {
  const entries: [string, JsonSchema][] = [];
  for (const [name, schema] of Object.entries(schemas)) {
    const strict = convert(schema, descend(position), conversion);
    if (!strict) return undefined;
    conversion.characters += name.length;
    entries.push([name, strict]);
  }
  return Object.fromEntries(entries);
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
