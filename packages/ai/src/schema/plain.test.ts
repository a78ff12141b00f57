import fc from "fast-check";
import { expect, test } from "vitest";
import { Check } from "#schema-engine";
import { withoutPrototypes } from "./coerce.ts";
import { plainCheck } from "./plain.ts";

type Schema = Record<string, unknown>;

const names = fc.constantFrom("a", "b", "path", "toString", "__proto__", "constructor");
const simple = fc.oneof(fc.constantFrom("a", "b", "", "ü", "5"), fc.boolean(), fc.constant(null));
const numbers = fc.oneof(fc.integer({ min: -3, max: 3 }), fc.constantFrom(0.5, -0, 1e300));

const { schema } = fc.letrec<{ schema: Schema }>((tie) => {
  const words = fc.record(
    {
      type: fc.constantFrom("string", "number", "integer", "boolean", "null", "array", "object"),
      enum: fc.array(simple, { minLength: 1, maxLength: 3 }),
      minimum: numbers,
      exclusiveMinimum: numbers,
      maximum: numbers,
      minItems: fc.nat(2),
      minLength: fc.nat(1),
      required: fc.uniqueArray(names, { maxLength: 2 }),
      properties: fc.dictionary(names, tie("schema"), { maxKeys: 3 }),
      additionalProperties: fc.boolean(),
      items: tie("schema"),
      anyOf: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }),
      description: fc.constant("says nothing"),
    },
    { requiredKeys: [] },
  );
  return { schema: fc.oneof({ maxDepth: 3 }, fc.constant<Schema>({ type: "string" }), words as fc.Arbitrary<Schema>) };
});

const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    simple,
    numbers,
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(names, tie("value"), { maxKeys: 3 }),
  ),
}));

test("A plain check and the engine agree", () => {
  const said = { yes: 0, no: 0 };
  fc.assert(
    fc.property(schema, value, (plain, given) => {
      const isValid = plainCheck(plain)?.(given);
      expect(isValid).toBe(Check(plain, withoutPrototypes(given)));
      said[isValid ? "yes" : "no"]++;
    }),
    { numRuns: 20_000 },
  );
  // Else this would have proved nothing.
  expect(Math.min(said.yes, said.no)).toBeGreaterThan(400);
});

test.each<[string, unknown]>([
  ["a word that it does not know", { type: "string", pattern: "^a" }],
  ["a reference", { $ref: "#/properties/a" }],
  ["a list of types", { type: ["string", "null"] }],
  ["a type that there is none of", { type: "text" }],
  ["an unknown word further in", { type: "object", properties: { a: { type: "array", items: { format: "uri" } } } }],
  ["lengths, which depend on what a letter is", { type: "string", minLength: 2 }],
  ["objects in an enum", { enum: [{ a: 1 }] }],
  ["a schema that is no object", true],
])("A schema with %s is left to the engine", (_what, said) => {
  expect(plainCheck(said)).toBeUndefined();
});
