/** Finds what is wrong with a JSON Schema itself. The engine ignores keywords that it cannot read, so a typing error would go unseen. */
import { Compile } from "#schema-engine";
import { getErrorMessage } from "../errors.ts";
import { findByPointer } from "./pointer.ts";

const one = { $ref: "#" };
const list = { type: "array", items: one };
const named = { type: "object", additionalProperties: one };
const count = { type: "integer", minimum: 0 };
const typeName = { enum: ["null", "boolean", "object", "array", "number", "integer", "string"] };

/** A schema for schemas: the keywords of JSON Schema whose values have a form. Others are allowed, since vendors have their own. */
const schemaOfSchemas = {
  type: ["object", "boolean"],
  properties: {
    type: { anyOf: [typeName, { type: "array", items: typeName, minItems: 1 }] },
    properties: named,
    patternProperties: named,
    dependentSchemas: named,
    $defs: named,
    definitions: named,
    additionalProperties: one,
    propertyNames: one,
    unevaluatedProperties: one,
    unevaluatedItems: one,
    contains: one,
    not: one,
    if: one,
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
    then: one,
    else: one,
    items: { anyOf: [one, list] },
    prefixItems: list,
    allOf: list,
    anyOf: list,
    oneOf: list,
    required: { type: "array", items: { type: "string" } },
    enum: { type: "array" },
    pattern: { type: "string" },
    format: { type: "string" },
    $ref: { type: "string" },
    minLength: count,
    maxLength: count,
    minItems: count,
    maxItems: count,
    minProperties: count,
    maxProperties: count,
    minimum: { type: "number" },
    maximum: { type: "number" },
    exclusiveMinimum: { type: ["number", "boolean"] },
    exclusiveMaximum: { type: ["number", "boolean"] },
    multipleOf: { type: "number", exclusiveMinimum: 0 },
    uniqueItems: { type: "boolean" },
  },
} as const;

/** Returns what is wrong, as a sentence; undefined if values can be checked against the schema. */
export function findSchemaFault(schema: unknown): string | undefined {
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return "It is not an object.";
  try {
    const [, [error]] = Compile(schemaOfSchemas).Errors(schema);
    if (error) return `${error.instancePath.slice(1) || "The schema"} ${error.message}.`;
    Compile(schema);
    return findLostReference(schema);
  } catch (error) {
    // Such as a pattern that is no regular expression.
    return `${getErrorMessage(error)}.`;
  }
}

/** A reference inside the schema that leads nowhere fits no value. */
function findLostReference(schema: object): string | undefined {
  let lost: string | undefined;
  JSON.stringify(schema, (key, value: unknown) => {
    const isLocal = key === "$ref" && typeof value === "string" && value.startsWith("#/");
    if (isLocal && findByPointer(schema, value) === undefined) lost ??= `There is no ${value}.`;
    return value;
  });
  return lost;
}
