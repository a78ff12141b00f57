import { IsOptional, IsUnsafe, type Static, Type } from "typebox";
import { expect, expectTypeOf, test } from "vitest";
import { toJsonSchema } from "./adapt.ts";
import { optionalStringEnum, StringEnum } from "./string-enum.ts";

const unit = StringEnum(["C", "F"], { description: "The unit", default: "C" });

test("a string enum becomes a schema with type and enum, without a union", () => {
  expect(toJsonSchema(unit)).toEqual({ type: "string", enum: ["C", "F"], description: "The unit", default: "C" });
  expect(toJsonSchema(StringEnum(["a"]))).toEqual({ type: "string", enum: ["a"] });
});

test("its static type is the union of its values", () => {
  expect(IsUnsafe(unit)).toBe(true);
  expectTypeOf<Static<typeof unit>>().toEqualTypeOf<"C" | "F">();
});

test("an optional string enum is an optional property of its object", () => {
  const schema = Type.Object({ unit, other: optionalStringEnum(["x", "y"]) });
  expect(IsOptional(schema.properties.other)).toBe(true);
  expectTypeOf<Static<typeof schema>>().toEqualTypeOf<{ unit: "C" | "F"; other?: "x" | "y" }>();
  expect(toJsonSchema(schema)).toMatchObject({
    required: ["unit"],
    properties: { other: { type: "string", enum: ["x", "y"] } },
  });
});

test("changing the list of values later does not change the schema", () => {
  const values = ["a", "b"];
  const schema = StringEnum(values);
  values.push("c");
  expect(toJsonSchema(schema)["enum"]).toEqual(["a", "b"]);
});
