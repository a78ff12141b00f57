/** Compares the types of values with those of TypeBox itself. */
import { type Static, Type } from "typebox";
import { expectTypeOf, test } from "vitest";
import type { JsonSchema, ToolArguments } from "../context.ts";
import type { OutputOf } from "../output/output-schema.ts";
import type { SchemaType } from "./schema-type.ts";
import { optionalStringEnum, StringEnum } from "./string-enum.ts";

test("values of TypeBox's schemas have the types that TypeBox gives them", () => {
  const schema = Type.Object({
    text: Type.String(),
    count: Type.Optional(Type.Integer({ minimum: 1 })),
    flags: Type.Array(Type.Boolean()),
    size: Type.Union([Type.Literal("small"), Type.Literal(7), Type.Null()]),
    choice: Type.Enum(["a", "b"]),
    unit: StringEnum(["C", "F"]),
    other: optionalStringEnum(["x", "y"]),
    point: Type.Tuple([Type.Number(), Type.String()]),
    map: Type.Record(Type.String(), Type.Number()),
    both: Type.Intersect([Type.Object({ a: Type.String() }), Type.Object({ b: Type.Optional(Type.Number()) })]),
    nested: Type.Optional(Type.Array(Type.Object({ edits: Type.Array(Type.Object({ n: Type.Number() })) }))),
    date: Type.Unsafe<Date>(Type.Any()),
    anything: Type.Any(),
    unknown: Type.Unknown(),
  });
  expectTypeOf<SchemaType<typeof schema>>().toEqualTypeOf<Static<typeof schema>>();
  expectTypeOf<ToolArguments<typeof schema>>().toEqualTypeOf<Static<typeof schema>>();
  expectTypeOf<OutputOf<typeof schema>>().toEqualTypeOf<Static<typeof schema>>();
  const partial = Type.Partial(Type.Pick(schema, ["text", "flags"]));
  expectTypeOf<SchemaType<typeof partial>>().toEqualTypeOf<{ text?: string; flags?: boolean[] }>();
});

test("values of JSON Schema have the types of its literals", () => {
  const schema = {
    type: "object",
    properties: {
      pair: { type: "array", prefixItems: [{ type: "string" }, { type: "number" }] },
      map: { type: "object", additionalProperties: { type: "boolean" } },
      all: { allOf: [{ type: "object", properties: { a: { const: 1 } }, required: ["a"] }] },
      open: { type: "object" },
    },
    required: ["pair", "map", "all"],
  } as const;
  expectTypeOf<SchemaType<typeof schema>>().toEqualTypeOf<{
    pair: [string, number];
    map: Record<string, boolean>;
    all: { a: 1 };
    open?: Record<string, unknown>;
  }>();
});

test("a schema without a static type gives arguments of any names, and answers of an unknown type", () => {
  // oxlint-disable-next-line typescript/no-explicit-any -- what such arguments are
  expectTypeOf<ToolArguments<JsonSchema>>().toEqualTypeOf<Record<string, any>>();
  // oxlint-disable-next-line typescript/no-explicit-any -- the tools of a list have arguments of all kinds
  expectTypeOf<ToolArguments<any>>().toBeAny();
  expectTypeOf<OutputOf<JsonSchema>>().toBeUnknown();
  expectTypeOf<SchemaType<{ type: string; properties: object }>>().toBeUnknown();
});
