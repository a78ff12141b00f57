import fc from "fast-check";
import { Type } from "typebox";
import { describe, expect, test } from "vitest";
import type { JsonSchema } from "../context.ts";
import { isAiError } from "../errors.ts";
import { toGeminiJsonSchema, toGeminiSchema } from "./gemini.ts";

/** The converted schema of one property. */
function property(schema: unknown, extra: object = {}): unknown {
  const out = toGeminiSchema({ type: "object", properties: { p: schema }, ...extra } as JsonSchema);
  return (out["properties"] as JsonSchema)["p"];
}
function jsonProperty(schema: unknown): unknown {
  const out = toGeminiJsonSchema({ type: "object", properties: { p: schema } } as JsonSchema);
  return (out["properties"] as JsonSchema)["p"];
}

describe("a schema is converted to the subset that Gemini supports", () => {
  test.each<[string, unknown, unknown]>([
    ["a description is kept", { type: "string", description: "A city" }, { type: "string", description: "A city" }],
    [
      "a union of literals becomes an enum",
      { anyOf: [{ const: "a" }, { const: "b" }] },
      { type: "string", enum: ["a", "b"] },
    ],
    ["a constant becomes an enum with one value", { const: "a" }, { type: "string", enum: ["a"] }],
    ["numbers in an enum become strings", { enum: [1, 2] }, { type: "string", enum: ["1", "2"] }],
    [
      "literals of several types become strings",
      { anyOf: [{ const: 1 }, { const: "auto" }] },
      { type: "string", enum: ["1", "auto"] },
    ],
    ["true and false become a boolean", { anyOf: [{ const: true }, { const: false }] }, { type: "boolean" }],
    ["an empty string is removed from an enum", { enum: ["", "a"] }, { type: "string", enum: ["a"] }],
    [
      "a union with null is nullable",
      { anyOf: [{ type: "string" }, { type: "null" }] },
      { type: "string", nullable: true },
    ],
    ["a type list with null is nullable", { type: ["integer", "null"] }, { type: "integer", nullable: true }],
    ["an enum with null is nullable", { enum: ["a", null] }, { type: "string", nullable: true, enum: ["a"] }],
    ["null alone is kept", { type: "null" }, { type: "null" }],
    ["OpenAPI's nullable is kept", { type: "STRING", nullable: true }, { type: "string", nullable: true }],
    [
      "members of allOf are merged",
      {
        allOf: [
          { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
          { properties: { b: { type: "number" } } },
        ],
      },
      { type: "object", properties: { a: { type: "string" }, b: { type: "number" } }, required: ["a"] },
    ],
    [
      "objects in a union are merged, and only properties required by all are required",
      {
        oneOf: [
          { type: "object", properties: { kind: { const: "a" }, x: { type: "string" } }, required: ["kind", "x"] },
          { type: "object", properties: { kind: { const: "b" }, y: { type: "integer" } }, required: ["kind"] },
        ],
      },
      {
        type: "object",
        properties: { kind: { type: "string", enum: ["a", "b"] }, x: { type: "string" }, y: { type: "integer" } },
        required: ["kind"],
      },
    ],
    [
      "arrays in a union become an array of the union",
      {
        anyOf: [
          { type: "array", items: { const: "a" } },
          { type: "array", items: { const: "b" } },
        ],
      },
      { type: "array", items: { type: "string", enum: ["a", "b"] } },
    ],
    ["an integer or a number becomes a number", { type: ["integer", "number"] }, { type: "number" }],
    [
      "of different types the first is used",
      { anyOf: [{ type: "array", items: { type: "string" } }, { type: "string" }] },
      { type: "array", items: { type: "string" } },
    ],
    [
      "a union of a literal and its type becomes the type",
      { anyOf: [{ const: "a" }, { type: "string" }] },
      { type: "string" },
    ],
    [
      "a property that only some branches require becomes optional",
      { type: "object", properties: { a: {} }, anyOf: [{ required: ["a"] }, { required: ["b"] }] },
      { type: "object", properties: { a: { type: "string" } } },
    ],
    ["an array without items gets items", { type: "array" }, { type: "array", items: { type: "string" } }],
    [
      "a tuple becomes an array",
      { type: "array", prefixItems: [{ type: "integer" }, { type: "number" }] },
      { type: "array", items: { type: "number" } },
    ],
    ["a schema that allows anything becomes a string", {}, { type: "string" }],
    [
      "a required property that does not exist is removed",
      { type: "object", properties: { a: { type: "string" } }, required: ["a", "b"] },
      { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
    ],
    [
      "a property that allows no value is removed",
      { type: "object", properties: { a: false, b: { type: "string" } } },
      { type: "object", properties: { b: { type: "string" } } },
    ],
    ["supported formats are kept", { type: "string", format: "date-time" }, { type: "string", format: "date-time" }],
    ["other formats are removed", { type: "string", format: "uri" }, { type: "string" }],
    [
      "limits are kept",
      { type: "array", items: { type: "string", maxLength: 3 }, minItems: 1 },
      { type: "array", items: { type: "string", maxLength: 3 }, minItems: 1 },
    ],
    [
      "exclusive limits of integers become inclusive ones",
      { type: "integer", exclusiveMinimum: 0, exclusiveMaximum: 10 },
      { type: "integer", minimum: 1, maximum: 9 },
    ],
    ["patterns that RE2 does not support are removed", { type: "string", pattern: "^(?!x)" }, { type: "string" }],
    [
      "maps become objects",
      { type: "object", additionalProperties: { type: "string" }, patternProperties: { "^x": {} } },
      { type: "object" },
    ],
    [
      "properties may have the names of keywords",
      {
        type: "object",
        properties: { const: { type: "string" }, $ref: { type: "string" }, anyOf: { type: "string" } },
      },
      {
        type: "object",
        properties: { const: { type: "string" }, $ref: { type: "string" }, anyOf: { type: "string" } },
      },
    ],
  ])("%s", (_name, schema, expected) => {
    expect(property(schema)).toEqual(expected);
  });

  test("in JSON Schema null is a type and numbers stay numbers", () => {
    expect(jsonProperty({ anyOf: [{ const: 1 }, { const: 2 }, { type: "null" }] })).toEqual({
      type: ["integer", "null"],
      enum: [1, 2],
    });
    expect(jsonProperty({ type: "string", nullable: true })).toEqual({ type: ["string", "null"] });
  });

  test("local references are replaced by their target, combined with the keywords next to them", () => {
    const out = toGeminiSchema({
      type: "object",
      properties: {
        origin: { $ref: "#/$defs/place", description: "Where from" },
        escaped: { $ref: "#/definitions/a~1b%20c" },
      },
      $defs: {
        place: { type: "object", properties: { city: { $ref: "#/$defs/city" } }, description: "A place" },
        city: { type: "string" },
      },
      definitions: { "a/b c": { type: "boolean" } },
    });
    expect(out).toEqual({
      type: "object",
      properties: {
        origin: { type: "object", description: "Where from", properties: { city: { type: "string" } } },
        escaped: { type: "boolean" },
      },
    });
  });

  test("recursive references end in a bare type", () => {
    const node = {
      type: "object",
      properties: { name: { type: "string" }, children: { type: "array", items: { $ref: "#/$defs/node" } } },
    };
    const expected = {
      type: "object",
      properties: { name: { type: "string" }, children: { type: "array", items: { type: "object" } } },
    };
    expect(property({ $ref: "#/$defs/node" }, { $defs: { node } })).toEqual(expected);
    expect(toGeminiSchema({ type: "object", properties: { self: { $ref: "#" } } })).toEqual({
      type: "object",
      properties: { self: { type: "object" } },
    });
    expect(property({ $ref: "#/$defs/loop" }, { $defs: { loop: { $ref: "#/$defs/loop" } } })).toEqual({
      type: "object",
    });
  });

  test("TypeBox schemas are converted", () => {
    const parameters = Type.Object({
      mode: Type.Union([Type.Literal("fast"), Type.Literal("deep")]),
      limit: Type.Optional(Type.Integer({ minimum: 1 })),
    });
    expect(toGeminiSchema(parameters)).toEqual({
      type: "object",
      properties: { mode: { type: "string", enum: ["fast", "deep"] }, limit: { type: "integer", minimum: 1 } },
      required: ["mode"],
    });
  });

  test("TypeBox's cyclic schemas end in a bare type too", () => {
    const tree = Type.Object({ name: Type.String(), next: Type.Optional(Type.Ref("Node")) });
    expect(toGeminiSchema(Type.Cyclic({ Node: tree }, "Node"))).toEqual({
      type: "object",
      properties: { name: { type: "string" }, next: { type: "object" } },
      required: ["name"],
    });
  });

  test("the same parameters are converted once", () => {
    const parameters = { type: "object", properties: {} };
    expect(toGeminiSchema(parameters)).toBe(toGeminiSchema(parameters));
  });

  test("a property named __proto__ is an ordinary property", () => {
    const parameters = JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}') as JsonSchema;
    expect(JSON.stringify(toGeminiSchema(parameters))).toBe(JSON.stringify(parameters));
  });
});

describe("schemas that cannot be expressed are rejected", () => {
  const doubling = Object.fromEntries(
    Array.from({ length: 30 }, (_unused, index) => [
      `d${index}`,
      { type: "object", properties: { a: { $ref: `#/$defs/d${index + 1}` }, b: { $ref: `#/$defs/d${index + 1}` } } },
    ]),
  );
  const deep = Array.from({ length: 100 }).reduce<JsonSchema>((inner) => ({ type: "array", items: inner }), {
    type: "string",
  });
  test.each<[string, JsonSchema]>([
    ["an array at the root", { type: "array" }],
    ["a union without an object at the root", { anyOf: [{ type: "string" }, { type: "null" }] }],
    ["a reference without a target", { type: "object", properties: { a: { $ref: "#/$defs/gone" } } }],
    ["an external reference", { type: "object", properties: { a: { $ref: "https://example.com/schema" } } }],
    ["references that multiply", { $ref: "#/$defs/d0", $defs: { ...doubling, d30: { type: "string" } } }],
    ["deep nesting", { type: "object", properties: { a: deep } }],
  ])("%s", (_name, schema) => {
    expect(() => toGeminiSchema(schema)).toThrow(
      expect.toSatisfy((error) => isAiError(error) && error.code === "invalid_schema"),
    );
  });
});

const names = ["a", "b", "const", "$ref", "anyOf", "__proto__"];
const typeNames = ["string", "number", "integer", "boolean", "array", "object", "null", "STRING", "nonsense"];

const { schema: anySchema } = fc.letrec<{ schema: unknown }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 4, depthSize: "small" },
    fc.constantFrom<unknown>(true, false, {}, 7),
    fc.record({ $ref: fc.constantFrom("#", "#/$defs/a", "#/$defs/b", "#/properties/a") }),
    fc.record({ const: fc.oneof(fc.constantFrom(null, true, "", "x", 1.5, 2), fc.constant({ k: 1 })) }),
    fc.record(
      {
        $schema: fc.constant("https://json-schema.org/draft/2020-12/schema"),
        type: fc.oneof(fc.constantFrom(...typeNames), fc.subarray(typeNames)),
        enum: fc.array(fc.constantFrom<unknown>("x", "y", "", 1, 2.5, null, false, [1])),
        title: fc.constantFrom("", "T"),
        description: fc.constantFrom("D", 7),
        format: fc.constantFrom("date-time", "uri", "int32", "float"),
        pattern: fc.constantFrom("^a+$", "(?=x)"),
        nullable: fc.boolean(),
        minimum: fc.integer(),
        exclusiveMaximum: fc.integer(),
        minItems: fc.nat(),
        properties: fc.dictionary(fc.constantFrom(...names), tie("schema")),
        required: fc.subarray(names),
        items: fc.oneof(tie("schema"), fc.array(tie("schema"), { maxLength: 2 })),
        prefixItems: fc.array(tie("schema"), { maxLength: 2 }),
        additionalProperties: tie("schema"),
        patternProperties: fc.dictionary(fc.constant("^x"), tie("schema")),
        anyOf: fc.array(tie("schema"), { maxLength: 3 }),
        oneOf: fc.array(tie("schema"), { maxLength: 3 }),
        allOf: fc.array(tie("schema"), { maxLength: 3 }),
        not: tie("schema"),
        if: tie("schema"),
      },
      { requiredKeys: [] },
    ),
  ),
}));

const anyParameters = fc
  .record({
    properties: fc.record({ a: anySchema, b: anySchema }),
    a: anySchema,
    b: anySchema,
    allOf: fc.array(anySchema, { maxLength: 2 }),
  })
  .map(({ properties, a, b, allOf }): JsonSchema => ({ type: "object", properties, allOf, $defs: { a, b } }));

const supportedKeywords = new Set(
  "type title description nullable enum properties required items format pattern minLength maxLength minimum maximum minItems maxItems minProperties maxProperties".split(
    " ",
  ),
);

function assertSupported(schema: JsonSchema, form: "openapi" | "json-schema"): void {
  for (const key of Object.keys(schema)) expect(supportedKeywords).toContain(key);
  const [type, second] = [schema["type"]].flat() as string[];
  expect(["string", "number", "integer", "boolean", "array", "object", "null"]).toContain(type);
  expect([undefined, "null"]).toContain(second);
  if (form === "openapi") expect(typeof schema["type"]).toBe("string");
  const values = schema["enum"] as unknown[] | undefined;
  if (form === "openapi")
    expect(values ?? []).toSatisfy((list: unknown[]) => list.every((value) => typeof value === "string"));
  if (values) expect(values.length).toBeGreaterThan(0);
  expect("items" in schema).toBe(type === "array");
  if (type === "array") assertSupported(schema["items"] as JsonSchema, form);
  const properties = (schema["properties"] ?? {}) as Record<string, JsonSchema>;
  for (const name of (schema["required"] ?? []) as string[]) expect(Object.hasOwn(properties, name)).toBe(true);
  for (const inner of Object.values(properties)) assertSupported(inner, form);
}

describe.each([
  ["openapi", toGeminiSchema],
  ["json-schema", toGeminiJsonSchema],
] as const)("for every schema, as %s", (form, convert) => {
  /** Undefined if the random schema cannot be expressed. */
  const tryConvert = (parameters: JsonSchema): JsonSchema | undefined => {
    try {
      return convert(parameters);
    } catch (error) {
      if (isAiError(error) && error.code === "invalid_schema") return undefined;
      throw error;
    }
  };

  test("the result contains only supported keywords, and converting it again changes nothing", () => {
    let converted = 0;
    fc.assert(
      fc.property(anyParameters, (parameters) => {
        const out = tryConvert(parameters);
        if (!out) return;
        converted++;
        assertSupported(out, form);
        expect(convert(structuredClone(out))).toEqual(out);
      }),
      { numRuns: process.env["TAU_LONG"] ? 200 : 60 },
    );
    expect(converted).toBeGreaterThan(50);
  });

  test("the input is not changed", () => {
    fc.assert(
      fc.property(anyParameters, (parameters) => {
        const before = JSON.stringify(parameters);
        tryConvert(parameters);
        expect(JSON.stringify(parameters)).toBe(before);
      }),
    );
  });
});
