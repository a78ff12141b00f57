import * as Type from "typebox";
import { expect, test } from "vitest";
import type { JsonSchema } from "../context.ts";
import { toClosedSchema, toJsonSchema } from "./adapt.ts";

const text = { type: "string" };

test("an object without a word on other properties is closed at the top, and the tool's own schema stays open", () => {
  const parameters = Type.Object({ path: Type.String(), inner: Type.Object({}) });
  const before = JSON.stringify(parameters);
  expect(toClosedSchema(parameters)).toEqual({
    type: "object",
    required: ["path", "inner"],
    properties: { path: text, inner: { type: "object", properties: {} } },
    additionalProperties: false,
  });
  expect(JSON.stringify(parameters)).toBe(before);
  expect(toJsonSchema(parameters)).not.toHaveProperty("additionalProperties");
  expect(toClosedSchema(parameters)).toBe(toClosedSchema(parameters));
});

test("an object without properties gets an empty list of them", () => {
  expect(toClosedSchema({ type: "object" })).toEqual({ type: "object", properties: {}, additionalProperties: false });
});

test.each<JsonSchema>([
  { type: "object", properties: { a: text }, additionalProperties: true },
  { type: "object", properties: { a: text }, additionalProperties: text },
  { type: "object", properties: { a: text }, additionalProperties: false },
  { type: "object", properties: {}, allOf: [{ properties: { b: text } }] },
  { type: "object", properties: {}, anyOf: [{ properties: { b: text } }, { properties: { c: text } }] },
  { type: "object", properties: {}, $ref: "#/$defs/a", $defs: { a: {} } },
  { type: "object", properties: { a: text }, unevaluatedProperties: false },
  { anyOf: [{ type: "object" }] },
])("a schema that is open or closed on purpose, or composed of others, stays as it is: %j", (schema) => {
  expect(toClosedSchema(schema)).toEqual(schema);
});
