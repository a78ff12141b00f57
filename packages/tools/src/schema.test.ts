import * as typebox from "typebox";
import { expect, test } from "vitest";
import { Type } from "./schema.ts";

/** One schema with everything in it, made with the given builders. */
const everything = (T: typeof Type) =>
  T.Object(
    {
      path: T.String({ description: "Where" }),
      many: T.Optional(T.Array(T.Object({ count: T.Integer({ minimum: 1 }) }))),
      either: T.Union([T.String(), T.Null()]),
      kind: T.Optional(T.Enum(["a", "b"], { default: "a" })),
      share: T.Number(),
      all: T.Boolean({ default: false }),
    },
    { additionalProperties: false },
  );

test("a schema is the one that typebox makes, to the order of its fields", () => {
  expect(JSON.stringify(everything(Type))).toBe(JSON.stringify(everything(typebox.Type)));
  expect(JSON.stringify(Type.Object({}))).toBe(JSON.stringify(typebox.Type.Object({})));
});

test("typebox knows its kinds and what is optional", () => {
  const schema = everything(Type);
  expect(typebox.IsObject(schema)).toBe(true);
  expect(typebox.IsOptional(schema.properties.many)).toBe(true);
  expect(typebox.IsArray(schema.properties.many)).toBe(true);
  expect(typebox.IsOptional(schema.properties.path)).toBe(false);
  expect(typebox.IsUnion(schema.properties.either)).toBe(true);
});
