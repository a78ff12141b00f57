import fc from "fast-check";
import { Type } from "typebox";
import { Check } from "typebox/schema";
import { describe, expect, test } from "vitest";
import type { JsonSchema } from "../context.ts";
import { toStrictSchema } from "./openai-strict.ts";

const object = (properties: Record<string, unknown>, required: string[] = Object.keys(properties), extra = {}) => ({
  type: "object",
  properties,
  required,
  ...extra,
});

/** The strict schema of one required property. */
const strictProperty = (schema: unknown, extra: JsonSchema = {}) =>
  (toStrictSchema(object({ it: schema }, ["it"], extra))?.["properties"] as JsonSchema | undefined)?.["it"];

const strictOptional = (schema: unknown) =>
  (toStrictSchema(object({ it: schema }, []))?.["properties"] as JsonSchema | undefined)?.["it"];

test("objects allow no additional properties and require all their properties, at every depth", () => {
  const point = object({ x: { type: "number" }, y: { type: "number" } }, ["x"]);
  expect(toStrictSchema(object({ points: { type: "array", items: point } }))).toEqual({
    type: "object",
    properties: {
      points: {
        type: "array",
        items: {
          type: "object",
          properties: { x: { type: "number" }, y: { type: ["number", "null"] } },
          required: ["x", "y"],
          additionalProperties: false,
        },
      },
    },
    required: ["points"],
    additionalProperties: false,
  });
});

test("an object without properties at the root is a tool without arguments", () => {
  const empty = { type: "object", properties: {}, required: [], additionalProperties: false };
  expect(toStrictSchema({ type: "object" })).toEqual(empty);
  expect(toStrictSchema({ type: "object", properties: {} })).toEqual(empty);
});

test("TypeBox schemas are converted like JSON Schema", () => {
  const schema = Type.Object({
    a: Type.String(),
    b: Type.Optional(Type.Union([Type.Literal("x"), Type.Literal("y")])),
  });
  expect(toStrictSchema(schema)).toEqual({
    type: "object",
    properties: {
      a: { type: "string" },
      b: {
        anyOf: [{ type: "string", enum: ["x"] }, { type: "string", enum: ["y"] }, { type: "null" }],
      },
    },
    required: ["a", "b"],
    additionalProperties: false,
  });
});

describe("an optional property becomes nullable", () => {
  test.each<[string, JsonSchema, JsonSchema]>([
    ["a scalar", { type: "integer", minimum: 1 }, { type: ["integer", "null"], minimum: 1 }],
    ["an enum", { type: "string", enum: ["a"] }, { type: ["string", "null"], enum: ["a", null] }],
    ["several types", { type: ["string", "number"] }, { type: ["string", "number", "null"] }],
    [
      "an array with a description",
      { type: "array", items: { type: "string" }, description: "Names" },
      { description: "Names", anyOf: [{ type: "array", items: { type: "string" } }, { type: "null" }] },
    ],
    [
      "a union",
      { anyOf: [{ type: "string" }, { type: "number" }] },
      { anyOf: [{ type: "string" }, { type: "number" }, { type: "null" }] },
    ],
    [
      "a union that already allows null",
      { anyOf: [{ type: "string" }, { type: "null" }] },
      { anyOf: [{ type: "string" }, { type: "null" }] },
    ],
    ["a type that already allows null", { type: ["string", "null"] }, { type: ["string", "null"] }],
    ["a reference", { $ref: "#" }, { anyOf: [{ $ref: "#" }, { type: "null" }] }],
  ])("%s", (_name, schema, strict) => {
    expect(strictOptional(schema)).toEqual(strict);
  });
});

describe("only unsupported keywords are removed", () => {
  test.each<[string, JsonSchema, JsonSchema]>([
    [
      "lengths and defaults are removed",
      { type: "string", minLength: 1, maxLength: 9, default: "x" },
      { type: "string" },
    ],
    ["patterns are kept", { type: "string", pattern: "^a+$" }, { type: "string", pattern: "^a+$" }],
    ["patterns with lookaround are removed", { type: "string", pattern: "^(?!a)" }, { type: "string" }],
    ["supported formats are kept", { type: "string", format: "date" }, { type: "string", format: "date" }],
    ["other formats are removed", { type: "string", format: "uri" }, { type: "string" }],
    ["titles and examples are removed", { type: "boolean", title: "T", examples: [true] }, { type: "boolean" }],
    [
      "bounds are kept",
      { type: "number", minimum: 0, exclusiveMaximum: 9, multipleOf: 3 },
      { type: "number", minimum: 0, exclusiveMaximum: 9, multipleOf: 3 },
    ],
    [
      "item counts are kept, uniqueItems is removed",
      { type: "array", items: { type: "string" }, minItems: 1, maxItems: 2, uniqueItems: true },
      { type: "array", items: { type: "string" }, minItems: 1, maxItems: 2 },
    ],
    [
      "a constant becomes an enum with one value",
      { const: 5, description: "Five" },
      { type: "number", enum: [5], description: "Five" },
    ],
    [
      "an enum may have several types",
      { enum: ["a", 1, null] },
      { type: ["string", "number", "null"], enum: ["a", 1, null] },
    ],
    ["oneOf becomes anyOf", { oneOf: [{ type: "string" }] }, { anyOf: [{ type: "string" }] }],
    [
      "allOf with one member becomes that member",
      { allOf: [{ type: "string" }], description: "D" },
      { type: "string", description: "D" },
    ],
    ["not is removed", { type: "string", not: { const: "x" } }, { type: "string" }],
  ])("%s", (_name, schema, strict) => {
    expect(strictProperty(schema)).toEqual(strict);
  });

  test("properties named __proto__ and constructor are kept", () => {
    const properties = JSON.parse('{"__proto__":{"type":"string"},"constructor":{"type":"number"}}');
    const strict = toStrictSchema({ type: "object", properties, required: ["__proto__"] });
    expect(JSON.stringify(strict)).toBe(
      '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":["number","null"]}},"required":["__proto__","constructor"],"additionalProperties":false}',
    );
  });
});

test("local references are kept, even recursive ones, and point to $defs", () => {
  const node = object(
    { value: { type: "string" }, next: { $ref: "#/definitions/node", description: "The next node" } },
    ["value"],
  );
  expect(toStrictSchema({ ...object({ list: { $ref: "#/definitions/node" } }), definitions: { node } })).toEqual({
    type: "object",
    properties: { list: { $ref: "#/$defs/node" } },
    required: ["list"],
    additionalProperties: false,
    $defs: {
      node: {
        type: "object",
        properties: { value: { type: "string" }, next: { anyOf: [{ $ref: "#/$defs/node" }, { type: "null" }] } },
        required: ["value", "next"],
        additionalProperties: false,
      },
    },
  });
});

describe("schemas that strict mode cannot express are not converted", () => {
  test.each<[string, unknown]>([
    ["an open map", { type: "object", additionalProperties: { type: "string" } }],
    ["an object with additional properties", object({ a: { type: "string" } }, [], { additionalProperties: true })],
    ["an object without properties", { type: "object" }],
    ["properties by pattern", { type: "object", patternProperties: { "^a": { type: "string" } } }],
    ["an empty schema", {}],
    ["the schema true", true],
    ["an array without items", { type: "array" }],
    ["a tuple", { type: "array", prefixItems: [{ type: "string" }], items: { type: "number" } }],
    ["allOf with several members", { allOf: [object({ a: { type: "string" } }), object({ b: { type: "string" } })] }],
    ["a union of requirements", { ...object({ a: { type: "string" } }), anyOf: [{ required: ["a"] }] }],
    ["a required property that does not exist", object({ a: { type: "string" } }, ["b"])],
    ["an external reference", { $ref: "https://example.test/schema.json" }],
    ["a reference to a property", { $ref: "#/properties/it" }],
    ["a reference without a target", { $ref: "#/$defs/missing" }],
    ["constants that are not scalars", { const: { a: 1 } }],
    ["an unknown type", { type: "date" }],
    ["too many enum values", { type: "string", enum: Array.from({ length: 1_001 }, (_, n) => `v${n}`) }],
  ])("%s", (_name, schema) => {
    expect(strictProperty(schema)).toBeUndefined();
  });

  test.each<[string, JsonSchema]>([
    ["a root that is a union", { anyOf: [object({})] }],
    ["a root that is not an object", { type: "array", items: { type: "string" } }],
    ["a root that is an enum", { type: "object", enum: [{}] }],
    ["a root that is a reference", { $ref: "#/$defs/a", $defs: { a: object({}) } }],
  ])("%s", (_name, schema) => {
    expect(toStrictSchema(schema)).toBeUndefined();
  });

  test("objects nested in more than ten levels", () => {
    const nest = (levels: number): JsonSchema =>
      levels === 1 ? object({ it: { type: "string" } }) : object({ it: nest(levels - 1) });
    expect(toStrictSchema(nest(10))).toBeDefined();
    expect(toStrictSchema(nest(11))).toBeUndefined();
    const lists = (levels: number): JsonSchema =>
      levels === 0 ? { type: "string" } : { type: "array", items: lists(levels - 1) };
    expect(toStrictSchema(object({ it: lists(500) }))).toBeUndefined();
  });
});

test("a schema is converted once", () => {
  const schema = object({ a: { type: "string" } });
  expect(toStrictSchema(schema)).toBe(toStrictSchema(schema));
});

/** A schema that strict mode can express, with a valid value. */
interface Sample {
  schema: JsonSchema;
  value: unknown;
}

const { sample } = fc.letrec<{ sample: Sample }>((tie) => ({
  sample: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.string({ maxLength: 5 }).map((value) => ({ schema: { type: "string", maxLength: 10, title: "T" }, value })),
    fc.integer().map((value) => ({ schema: { type: "integer", default: 1 }, value })),
    fc.boolean().map((value) => ({ schema: { type: "boolean" }, value })),
    fc.constant({ schema: { type: "null" }, value: null }),
    fc.constantFrom("a", "b").map((value) => ({ schema: { enum: ["a", "b", 3] }, value })),
    fc.array(tie("sample"), { minLength: 1, maxLength: 3 }).map((samples) => ({
      schema: { anyOf: samples.map(({ schema }) => schema) },
      value: samples[0]!.value,
    })),
    fc.tuple(tie("sample"), fc.nat(2)).map(([{ schema, value }, count]) => ({
      schema: { type: "array", items: schema, uniqueItems: false },
      value: Array.from({ length: count }, () => value),
    })),
    objectSample(tie("sample")),
  ),
}));

function objectSample(inner: fc.Arbitrary<Sample>): fc.Arbitrary<Sample> {
  const property = fc.record({ inner, presence: fc.constantFrom("required", "present", "absent") });
  return fc.dictionary(fc.string({ maxLength: 4 }), property, { maxKeys: 4 }).map((properties) => {
    const entries = Object.entries(properties);
    return {
      schema: {
        type: "object",
        properties: Object.fromEntries(
          entries.map(
            ([
              name,
              {
                inner: { schema },
              },
            ]) => [name, schema],
          ),
        ),
        required: entries.filter(([, { presence }]) => presence === "required").map(([name]) => name),
      },
      value: Object.fromEntries(
        entries
          .filter(([, { presence }]) => presence !== "absent")
          .map(
            ([
              name,
              {
                inner: { value },
              },
            ]) => [name, value],
          ),
      ),
    };
  });
}

/** The value as a strict model would write it: absent properties are null. */
function toStrictValue(schema: JsonSchema, value: unknown): unknown {
  const variants = schema["anyOf"] as JsonSchema[] | undefined;
  if (variants) return toStrictValue(variants[0]!, value);
  if (Array.isArray(value)) return value.map((item) => toStrictValue(schema["items"] as JsonSchema, item));
  if (typeof value !== "object" || value === null) return value;
  const fields = value as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(schema["properties"] as Record<string, JsonSchema>).map(([name, inner]) => [
      name,
      Object.hasOwn(fields, name) ? toStrictValue(inner, fields[name]) : null,
    ]),
  );
}

function findObjects(schema: unknown): JsonSchema[] {
  if (typeof schema !== "object" || schema === null) return [];
  const self = schema as JsonSchema;
  return [...(self["type"] === "object" ? [self] : []), ...Object.values(self).flatMap(findObjects)];
}

describe("for every schema that strict mode can express", () => {
  test("objects allow no additional properties, and valid values stay valid with null for absent properties", () => {
    fc.assert(
      fc.property(objectSample(sample), ({ schema, value }) => {
        const strict = toStrictSchema(schema)!;
        expect(strict).toBeDefined();
        for (const inner of findObjects(strict)) {
          expect(inner["additionalProperties"]).toBe(false);
          expect(inner["required"]).toEqual(Object.keys(inner["properties"] as object));
        }
        expect(Check(schema, value)).toBe(true);
        expect(Check(strict, toStrictValue(schema, value))).toBe(true);
      }),
    );
  });

  test("the input is not changed, and converting the result again changes nothing", () => {
    fc.assert(
      fc.property(objectSample(sample), ({ schema }) => {
        const before = JSON.stringify(schema);
        const strict = toStrictSchema(schema)!;
        expect(JSON.stringify(schema)).toBe(before);
        expect(toStrictSchema(strict)).toEqual(strict);
      }),
    );
  });

  test("any input gives a schema or undefined", () => {
    fc.assert(
      fc.property(
        fc.dictionary(
          fc.constantFrom("type", "properties", "items", "anyOf", "enum", "$ref", "required", "$defs"),
          fc.jsonValue(),
        ),
        (schema) => {
          const strict = toStrictSchema(schema as JsonSchema);
          expect(strict === undefined || strict["type"] === "object").toBe(true);
        },
      ),
    );
  });
});
