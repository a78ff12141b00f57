import { Type } from "typebox";
import { expect, test } from "vitest";
import { findSchemaFault } from "./check-schema.ts";

test.each([
  [{}],
  [{ type: "object", properties: { a: { type: ["string", "null"] }, $ref: { type: "string" } }, required: ["a"] }],
  [{ $defs: { a: { enum: [1] } }, items: { $ref: "#/$defs/a" }, not: true, "x-vendor": 5 }],
  [{ $ref: "#" }],
  [JSON.parse(JSON.stringify(Type.Object({ a: Type.Optional(Type.Union([Type.Literal(1), Type.String()])) })))],
])("%j can be used", (schema) => {
  expect(findSchemaFault(schema)).toBeUndefined();
});

test.each([
  [null, "not an object"],
  ["string", "not an object"],
  [[], "not an object"],
  [{ type: "strin" }, "type must"],
  [{ type: "object", properties: 5 }, "properties must be object"],
  [{ properties: { a: { properties: { b: "string" } } } }, "properties/a/properties/b must"],
  [{ required: "a" }, "required must be array"],
  [{ anyOf: {} }, "anyOf must be array"],
  [{ minLength: "3" }, "minLength must be integer"],
  [{ type: "string", pattern: "(" }, "regular expression"],
  [{ items: { $ref: "#/definitions/a" }, $defs: { a: {} } }, "There is no #/definitions/a."],
])("%j cannot be used, and the fault is named", (schema, fault) => {
  expect(findSchemaFault(schema)).toContain(fault);
});
