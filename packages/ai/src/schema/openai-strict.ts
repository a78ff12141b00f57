import type { JsonSchema, ToolParameters } from "../context.ts";
import { toJsonSchema } from "./adapt.ts";
import { oncePer } from "../internal/once.ts";
import { isRecord } from "../is-record.ts";

/**
 * The parameters as OpenAI's strict mode wants them: objects are closed, every property is required, and one that was
 * optional may be null instead. What strict mode does not know is dropped where arguments stay recognisable (a length,
 * a default: validation still looks at the tool's own schema); undefined where they would not (open maps, tuples, `allOf`,
 * a value of any type, references that lead elsewhere) and where the schema is larger than strict mode takes.
 *
 * The result is cached by identity and must not be changed.
 */
export const toStrictSchema: (parameters: ToolParameters) => JsonSchema | undefined = oncePer(
  (parameters: ToolParameters) => convertRoot(toJsonSchema(parameters)),
);

/** What one conversion counts and needs to know. */
interface Conversion {
  /** The names that a local reference may lead to. */
  readonly definitions: ReadonlySet<string>;
  properties: number;
  enumValues: number;
  characters: number;
}

const most = { properties: 5_000, enumValues: 1_000, characters: 120_000, levels: 10 };

/** No schema that strict mode takes is deeper than this, counting unions and arrays too. */
const deepest = 64;

interface SchemaPath {
  /** Objects around this schema. */
  level: number;
  /** Schemas around this schema. */
  depth: number;
}

function convertRoot(root: JsonSchema): JsonSchema | undefined {
  if (root["type"] !== undefined && root["type"] !== "object") return undefined;
  if (shaping.some((key) => key !== "properties" && root[key] !== undefined)) return undefined;
  const definitions = { ...readRecord(root["definitions"]), ...readRecord(root["$defs"]) };
  const conversion: Conversion = {
    definitions: new Set(Object.keys(definitions)),
    properties: 0,
    enumValues: 0,
    characters: 0,
  };
  // Without properties a nested object is an open map, but at the root it is a tool without arguments.
  const object = { ...root, type: "object", properties: root["properties"] ?? {} };
  const schema = convert(object, { level: 0, depth: 0 }, conversion);
  const defs = convertAll(definitions, { level: 0, depth: 0 }, conversion);
  if (!schema || !defs || isTooLarge(conversion)) return undefined;
  return conversion.definitions.size > 0 ? { ...schema, $defs: defs } : schema;
}

const isTooLarge = (conversion: Conversion) =>
  conversion.properties > most.properties ||
  conversion.enumValues > most.enumValues ||
  conversion.characters > most.characters;

/** Keywords that say which values are meant, not only which of them are good; next to others they cannot be dropped. */
const shaping = ["properties", "items", "anyOf", "oneOf", "allOf", "enum", "const", "$ref"];

function convert(schema: unknown, place: SchemaPath, conversion: Conversion): JsonSchema | undefined {
  if (!isRecord(schema) || place.depth > deepest) return undefined;
  const shapes = shaping.filter((key) => schema[key] !== undefined);
  if (schema["$ref"] !== undefined) return shapes.length > 1 ? undefined : convertReference(schema["$ref"], conversion);
  const note = typeof schema["description"] === "string" ? { description: schema["description"] } : {};
  if (schema["allOf"] !== undefined) {
    // A list of one is how generators write a described reference.
    const [only, ...others] = readList(schema["allOf"]);
    const inner = shapes.length > 1 || others.length > 0 ? undefined : convert(only, deeper(place), conversion);
    return inner?.["$ref"] === undefined ? inner && { ...inner, ...note } : inner;
  }
  if (schema["anyOf"] !== undefined || schema["oneOf"] !== undefined) {
    if (shapes.length > 1) return undefined;
    const variants = readList(schema["anyOf"] ?? schema["oneOf"]).map((one) => convert(one, deeper(place), conversion));
    return variants.length > 0 && variants.every(isRecord) ? { ...note, anyOf: variants } : undefined;
  }
  if (schema["enum"] !== undefined || schema["const"] !== undefined) {
    const literals = convertLiterals(schema, conversion);
    return literals && { ...note, ...literals };
  }
  const typed = convertTyped(schema, place, conversion);
  return typed && { ...note, ...typed };
}

const deeper = (place: SchemaPath, levels = 0): SchemaPath => ({ level: place.level + levels, depth: place.depth + 1 });

/** Only the root and its definitions can be referred to, and nothing may stand beside a reference. */
function convertReference(reference: unknown, conversion: Conversion): JsonSchema | undefined {
  if (reference === "#") return { $ref: "#" };
  const name = typeof reference === "string" ? /^#\/(?:\$defs|definitions)\/([^/]+)$/.exec(reference)?.[1] : undefined;
  if (name === undefined || !conversion.definitions.has(unescapePointer(name))) return undefined;
  return { $ref: `#/$defs/${name}` };
}

const unescapePointer = (name: string) => name.replaceAll("~1", "/").replaceAll("~0", "~");

function convertLiterals(schema: JsonSchema, conversion: Conversion): JsonSchema | undefined {
  const values = schema["const"] !== undefined ? [schema["const"]] : readList(schema["enum"]);
  const types = [...new Set(values.map(literalType))];
  if (types.length === 0 || types.includes(undefined)) return undefined;
  conversion.enumValues += values.length;
  for (const value of values) if (typeof value === "string") conversion.characters += value.length;
  return { type: types.length === 1 ? types[0] : types, enum: values };
}

function literalType(value: unknown): string | undefined {
  if (value === null) return "null";
  const type = typeof value;
  return type === "string" || type === "number" || type === "boolean" ? type : undefined;
}

/** What strict mode understands, by type. */
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

const isUnderstood = (key: string, value: unknown): boolean => {
  if (key === "format") return formats.includes(value as string);
  if (key === "pattern") return typeof value === "string" && !/\(\?<?[=!]/.test(value);
  return typeof value === "number";
};

function convertTyped(schema: JsonSchema, place: SchemaPath, conversion: Conversion): JsonSchema | undefined {
  const types = readTypes(schema);
  const result: JsonSchema = { type: types.length === 1 ? types[0] : types };
  for (const type of types) {
    const kept = keywords[type];
    if (!kept) return undefined;
    for (const key of kept) if (isUnderstood(key, schema[key])) result[key] = schema[key];
    const parts =
      type === "object"
        ? convertObject(schema, place, conversion)
        : type === "array"
          ? convertArray(schema, place, conversion)
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

function convertObject(schema: JsonSchema, place: SchemaPath, conversion: Conversion): JsonSchema | undefined {
  const isOpen = schema["additionalProperties"] !== undefined && schema["additionalProperties"] !== false;
  if (isOpen || schema["patternProperties"] !== undefined || !isRecord(schema["properties"])) return undefined;
  if (place.level >= most.levels) return undefined;
  const properties = schema["properties"];
  const required = new Set(readList(schema["required"]));
  if ([...required].some((name) => !Object.hasOwn(properties, String(name)))) return undefined;
  const closed = convertAll(properties, deeper(place, 1), conversion);
  if (!closed) return undefined;
  const names = Object.keys(closed);
  conversion.properties += names.length;
  return {
    properties: Object.fromEntries(
      names.map((name) => [name, required.has(name) ? closed[name] : nullable(closed[name] as JsonSchema)]),
    ),
    required: names,
    additionalProperties: false,
  };
}

function convertArray(schema: JsonSchema, place: SchemaPath, conversion: Conversion): JsonSchema | undefined {
  if (schema["prefixItems"] !== undefined) return undefined;
  const items = convert(schema["items"], deeper(place), conversion);
  return items && { items };
}

/** Each schema of a record; undefined if one cannot be expressed. */
function convertAll(
  schemas: Record<string, unknown>,
  place: SchemaPath,
  conversion: Conversion,
): Record<string, unknown> | undefined {
  const entries: [string, JsonSchema][] = [];
  for (const [name, schema] of Object.entries(schemas)) {
    const strict = convert(schema, deeper(place), conversion);
    if (!strict) return undefined;
    conversion.characters += name.length;
    entries.push([name, strict]);
  }
  return Object.fromEntries(entries);
}

/** The same schema, which also takes null. */
function nullable(schema: JsonSchema): JsonSchema {
  const { description, ...rest } = schema;
  const note = description !== undefined ? { description } : {};
  const nothing = { type: "null" };
  if (Array.isArray(rest["anyOf"])) {
    const variants = rest["anyOf"] as JsonSchema[];
    return variants.some(takesNull) ? schema : { ...note, anyOf: [...variants, nothing] };
  }
  if (takesNull(schema)) return schema;
  const types = rest["type"] === undefined ? [] : [rest["type"]].flat();
  if (types.length === 0 || types.includes("object") || types.includes("array")) {
    return { ...note, anyOf: [rest, nothing] };
  }
  const literals = Array.isArray(rest["enum"]) ? { enum: [...(rest["enum"] as unknown[]), null] } : {};
  return { ...schema, type: [...types, "null"], ...literals };
}

const takesNull = (schema: JsonSchema): boolean => [schema["type"]].flat().includes("null");

const readRecord = (value: unknown): Record<string, unknown> => (isRecord(value) ? value : {});
const readList = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
