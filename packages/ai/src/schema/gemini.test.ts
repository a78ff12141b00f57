import fc from "fast-check";
import { Type } from "typebox";
import { describe, expect, test } from "vitest";
import type { JsonSchema } from "../context.ts";
import { isAiError } from "../errors.ts";
import { toGeminiJsonSchema, toGeminiSchema } from "./gemini.ts";

/** What becomes of one property. */
function property(schema: unknown, extra: object = {}): unknown {
  const out = toGeminiSchema({ type: "object", properties: { p: schema }, ...extra } as JsonSchema);
  return (out["properties"] as JsonSchema)["p"];
}
function jsonProperty(schema: unknown): unknown {
  const out = toGeminiJsonSchema({ type: "object", properties: { p: schema } } as JsonSchema);
  return (out["properties"] as JsonSchema)["p"];
}

describe("a schema becomes what Gemini understands", () => {
  test.each<[string, unknown, unknown]>([
    ["a description stays", { type: "string", description: "A city" }, { type: "string", description: "A city" }],
    [
      "a union of literals is an enum",
      { anyOf: [{ const: "a" }, { const: "b" }] },
      { type: "string", enum: ["a", "b"] },
    ],
    ["a constant is an enum of one", { const: "a" }, { type: "string", enum: ["a"] }],
    ["numbers are listed by name", { enum: [1, 2] }, { type: "string", enum: ["1", "2"] }],
    [
      "mixed literals are listed by name",
      { anyOf: [{ const: 1 }, { const: "auto" }] },
      { type: "string", enum: ["1", "auto"] },
    ],
    ["true and false are a boolean", { anyOf: [{ const: true }, { const: false }] }, { type: "boolean" }],
    ["an empty text cannot be listed", { enum: ["", "a"] }, { type: "string", enum: ["a"] }],
    [
      "a union with null is nullable",
      { anyOf: [{ type: "string" }, { type: "null" }] },
      { type: "string", nullable: true },
    ],
    ["a type list with null is nullable", { type: ["integer", "null"] }, { type: "integer", nullable: true }],
    ["an enum with null is nullable", { enum: ["a", null] }, { type: "string", nullable: true, enum: ["a"] }],
    ["null alone stays", { type: "null" }, { type: "null" }],
    ["OpenAPI's nullable stays", { type: "STRING", nullable: true }, { type: "string", nullable: true }],
    [
      "all of them are merged",
      {
        allOf: [
          { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
          { properties: { b: { type: "number" } } },
        ],
      },
      { type: "object", properties: { a: { type: "string" }, b: { type: "number" } }, required: ["a"] },
    ],
    [
      "objects in a union are merged, and only what all require is required",
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
      "lists in a union are lists of either",
      {
        anyOf: [
          { type: "array", items: { const: "a" } },
          { type: "array", items: { const: "b" } },
        ],
      },
      { type: "array", items: { type: "string", enum: ["a", "b"] } },
    ],
    ["an integer or a number is a number", { type: ["integer", "number"] }, { type: "number" }],
    [
      "of different types the first counts",
      { anyOf: [{ type: "array", items: { type: "string" } }, { type: "string" }] },
      { type: "array", items: { type: "string" } },
    ],
    ["a literal beside its type is the type", { anyOf: [{ const: "a" }, { type: "string" }] }, { type: "string" }],
    [
      "requirements in a union widen",
      { type: "object", properties: { a: {} }, anyOf: [{ required: ["a"] }, { required: ["b"] }] },
      { type: "object", properties: { a: { type: "string" } } },
    ],
    ["a list says of what", { type: "array" }, { type: "array", items: { type: "string" } }],
    [
      "a tuple is a list",
      { type: "array", prefixItems: [{ type: "integer" }, { type: "number" }] },
      { type: "array", items: { type: "number" } },
    ],
    ["what may be anything is a text", {}, { type: "string" }],
    [
      "what is required exists",
      { type: "object", properties: { a: { type: "string" } }, required: ["a", "b"] },
      { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
    ],
    [
      "what is never allowed is gone",
      { type: "object", properties: { a: false, b: { type: "string" } } },
      { type: "object", properties: { b: { type: "string" } } },
    ],
    ["known formats stay", { type: "string", format: "date-time" }, { type: "string", format: "date-time" }],
    ["other formats go", { type: "string", format: "uri" }, { type: "string" }],
    [
      "limits stay",
      { type: "array", items: { type: "string", maxLength: 3 }, minItems: 1 },
      { type: "array", items: { type: "string", maxLength: 3 }, minItems: 1 },
    ],
    [
      "exclusive limits of integers are exact",
      { type: "integer", exclusiveMinimum: 0, exclusiveMaximum: 10 },
      { type: "integer", minimum: 1, maximum: 9 },
    ],
    ["patterns that RE2 has not go", { type: "string", pattern: "^(?!x)" }, { type: "string" }],
    [
      "maps are objects",
      { type: "object", additionalProperties: { type: "string" }, patternProperties: { "^x": {} } },
      { type: "object" },
    ],
    [
      "keywords as names are names",
      {
        type: "object",
        properties: { const: { type: "string" }, $ref: { type: "string" }, anyOf: { type: "string" } },
      },
      {
        type: "object",
        properties: { const: { type: "string" }, $ref: { type: "string" }, anyOf: { type: "string" } },
      },
    ],
  ])("%s", (_law, schema, expected) => {
    expect(property(schema)).toEqual(expected);
  });

  test("in JSON Schema's terms null is a type and numbers stay numbers", () => {
    expect(jsonProperty({ anyOf: [{ const: 1 }, { const: 2 }, { type: "null" }] })).toEqual({
      type: ["integer", "null"],
      enum: [1, 2],
    });
    expect(jsonProperty({ type: "string", nullable: true })).toEqual({ type: ["string", "null"] });
  });

  test("local references are put in place, with what stands beside them", () => {
    const out = toGeminiSchema({
      type: "object",
      properties: {
        here: { $ref: "#/$defs/place", description: "Where from" },
        odd: { $ref: "#/definitions/a~1b%20c" },
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
        here: { type: "object", description: "Where from", properties: { city: { type: "string" } } },
        odd: { type: "boolean" },
      },
    });
  });

  test("references that lead back to themselves are cut", () => {
    const node = {
      type: "object",
      properties: { name: { type: "string" }, children: { type: "array", items: { $ref: "#/$defs/node" } } },
    };
    const once = {
      type: "object",
      properties: { name: { type: "string" }, children: { type: "array", items: { type: "object" } } },
    };
    expect(property({ $ref: "#/$defs/node" }, { $defs: { node } })).toEqual(once);
    expect(toGeminiSchema({ type: "object", properties: { self: { $ref: "#" } } })).toEqual({
      type: "object",
      properties: { self: { type: "object" } },
    });
    expect(property({ $ref: "#/$defs/loop" }, { $defs: { loop: { $ref: "#/$defs/loop" } } })).toEqual({
      type: "object",
    });
  });

  test("TypeBox schemas are understood", () => {
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

  test("TypeBox's cyclic schemas are cut too", () => {
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

  test("a name that is a prototype's is data", () => {
    const parameters = JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}') as JsonSchema;
    expect(JSON.stringify(toGeminiSchema(parameters))).toBe(JSON.stringify(parameters));
  });
});

describe("what cannot be said is misuse of that schema alone", () => {
  const doubling = Object.fromEntries(
    Array.from({ length: 30 }, (_unused, at) => [
      `d${at}`,
      { type: "object", properties: { a: { $ref: `#/$defs/d${at + 1}` }, b: { $ref: `#/$defs/d${at + 1}` } } },
    ]),
  );
  const deep = Array.from({ length: 100 }).reduce<JsonSchema>((inner) => ({ type: "array", items: inner }), {
    type: "string",
  });
  test.each<[string, JsonSchema]>([
    ["a list at the top", { type: "array" }],
    ["a union without an object at the top", { anyOf: [{ type: "string" }, { type: "null" }] }],
    ["a reference that leads nowhere", { type: "object", properties: { a: { $ref: "#/$defs/gone" } } }],
    ["a reference to elsewhere", { type: "object", properties: { a: { $ref: "https://example.com/schema" } } }],
    ["references that multiply", { $ref: "#/$defs/d0", $defs: { ...doubling, d30: { type: "string" } } }],
    ["endless nesting", { type: "object", properties: { a: deep } }],
  ])("%s", (_what, schema) => {
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
    own: fc.record({ a: anySchema, b: anySchema }),
    a: anySchema,
    b: anySchema,
    more: fc.array(anySchema, { maxLength: 2 }),
  })
  .map(({ own, a, b, more }): JsonSchema => ({ type: "object", properties: own, allOf: more, $defs: { a, b } }));

const allowed = new Set(
  "type title description nullable enum properties required items format pattern minLength maxLength minimum maximum minItems maxItems minProperties maxProperties".split(
    " ",
  ),
);

function assertExpressible(schema: JsonSchema, form: "openapi" | "json-schema"): void {
  for (const key of Object.keys(schema)) expect(allowed).toContain(key);
  const [type, second] = [schema["type"]].flat() as string[];
  expect(["string", "number", "integer", "boolean", "array", "object", "null"]).toContain(type);
  expect([undefined, "null"]).toContain(second);
  if (form === "openapi") expect(typeof schema["type"]).toBe("string");
  const values = schema["enum"] as unknown[] | undefined;
  if (form === "openapi")
    expect(values ?? []).toSatisfy((list: unknown[]) => list.every((value) => typeof value === "string"));
  if (values) expect(values.length).toBeGreaterThan(0);
  expect("items" in schema).toBe(type === "array");
  if (type === "array") assertExpressible(schema["items"] as JsonSchema, form);
  const properties = (schema["properties"] ?? {}) as Record<string, JsonSchema>;
  for (const name of (schema["required"] ?? []) as string[]) expect(Object.hasOwn(properties, name)).toBe(true);
  for (const inner of Object.values(properties)) assertExpressible(inner, form);
}

describe.each([
  ["openapi", toGeminiSchema],
  ["json-schema", toGeminiJsonSchema],
] as const)("whatever the schema, in the terms of %s", (form, convert) => {
  /** A random schema may be one that cannot be said; then nothing is claimed about it. */
  const attempt = (parameters: JsonSchema): JsonSchema | undefined => {
    try {
      return convert(parameters);
    } catch (error) {
      if (isAiError(error) && error.code === "invalid_schema") return undefined;
      throw error;
    }
  };

  test("the result holds only what Gemini knows, and converting it again changes nothing", () => {
    let converted = 0;
    fc.assert(
      fc.property(anyParameters, (parameters) => {
        const out = attempt(parameters);
        if (!out) return;
        converted++;
        assertExpressible(out, form);
        expect(convert(structuredClone(out))).toEqual(out);
      }),
      { numRuns: 200 },
    );
    expect(converted).toBeGreaterThan(50);
  });

  test("the input is not changed", () => {
    fc.assert(
      fc.property(anyParameters, (parameters) => {
        const before = JSON.stringify(parameters);
        attempt(parameters);
        expect(JSON.stringify(parameters)).toBe(before);
      }),
    );
  });
});
